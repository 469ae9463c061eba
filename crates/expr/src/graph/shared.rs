//! A store that copies of a graph share until one of them grows.

use std::cell::{Ref, RefCell, RefMut};
use std::sync::Arc;

use crate::graph::store::Store;

/// A store of one's own, or one that others have too: it is copied before it is changed, if anybody else still has it.
#[derive(Debug)]
pub(crate) struct SharedStore(RefCell<Holding>);

#[derive(Debug)]
enum Holding {
    Own(Store),
    Shared(Arc<Store>),
}

impl SharedStore {
    pub(crate) fn new(store: Store) -> Self {
        Self(RefCell::new(Holding::Own(store)))
    }

    pub(crate) fn shared(store: Arc<Store>) -> Self {
        Self(RefCell::new(Holding::Shared(store)))
    }

    /// For reading.
    #[inline]
    pub(crate) fn borrow(&self) -> Ref<'_, Store> {
        Ref::map(self.0.borrow(), |holding| match holding {
            Holding::Own(store) => store,
            Holding::Shared(store) => store,
        })
    }

    /// For changes, which nobody else sees.
    #[inline]
    pub(crate) fn borrow_mut(&self) -> RefMut<'_, Store> {
        RefMut::map(self.0.borrow_mut(), |holding| {
            if let Holding::Shared(store) = holding {
                let store = std::mem::take(store);
                *holding = Holding::Own(Arc::unwrap_or_clone(store));
            }
            match holding {
                Holding::Own(store) => store,
                Holding::Shared(_) => unreachable!("it became one's own"),
            }
        })
    }

    /// As it stands, for good.
    pub(crate) fn freeze(self) -> Arc<Store> {
        match self.0.into_inner() {
            Holding::Own(store) => Arc::new(store),
            Holding::Shared(store) => store,
        }
    }
}

impl Clone for SharedStore {
    /// From here on both share what is there.
    fn clone(&self) -> Self {
        let mut holding = self.0.borrow_mut();
        let store = match &mut *holding {
            Holding::Own(store) => Arc::new(std::mem::take(store)),
            Holding::Shared(store) => Arc::clone(store),
        };
        *holding = Holding::Shared(Arc::clone(&store));
        Self::shared(store)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Graph, Role};

    /// A copy costs nothing until one of both grows, and neither sees what the other makes.
    #[test]
    fn copies_share_until_they_grow() {
        let g = Graph::new();
        let [x, y] = ["x", "y"].map(|n| g.symbol(n, Role::Free));
        let sum = g.add(x, y);
        let copy = g.clone();
        let same = std::ptr::from_ref(&*g.store.borrow()) == &raw const *copy.store.borrow();
        assert!(same, "one store for both");
        assert_eq!(copy.symbols(&[sum]), [x, y]);
        let made = copy.mul(x, y);
        assert_eq!((g.len() + 1, copy.len()), (copy.len(), made.index() + 1));
        assert_eq!(g.sin(x), made, "the next place of the other one");
        assert_eq!(copy.add(y, x), sum);
        assert_eq!((g.to_text(made), copy.to_text(made)), ("sin(x)".into(), "x*y".into()));
        let frozen = g.freeze();
        let (a, b) = (frozen.fork(), frozen.fork());
        let same = std::ptr::from_ref(&*a.store.borrow()) == &raw const *b.store.borrow();
        assert!(same && a.cos(y) == b.cos(x) && a.to_text(made) == "sin(x)");
    }
}
