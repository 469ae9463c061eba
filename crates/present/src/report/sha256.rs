//! The SHA-256 of a text, so that a page names the very model it shows; `sha256sum` gives the same.
//!
//! [FIPS 180-4, §5.1.1, §6.2]. The constants are the fractional parts of the square and cube roots of the first primes.

/// 64 hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let (mut state, constants) = (roots::<8>(2), roots::<64>(3));
    let mut message = bytes.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend((bytes.len() as u64 * 8).to_be_bytes());
    for block in message.chunks_exact(64) {
        compress(&mut state, &constants, block);
    }
    state.map(|word| format!("{word:08x}")).concat()
}

fn compress(state: &mut [u32; 8], constants: &[u32; 64], block: &[u8]) {
    let mut w = [0_u32; 64];
    for (word, bytes) in w.iter_mut().zip(block.chunks_exact(4)) {
        *word = bytes.iter().fold(0, |word, &b| word << 8 | u32::from(b));
    }
    let mix = |x: u32, a, b, c| x.rotate_right(a) ^ x.rotate_right(b) ^ x >> c;
    for i in 16..64 {
        let (σ0, σ1) = (mix(w[i - 15], 7, 18, 3), mix(w[i - 2], 17, 19, 10));
        w[i] = w[i - 16].wrapping_add(σ0).wrapping_add(w[i - 7]).wrapping_add(σ1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    let turn = |x: u32, a, b, c| x.rotate_right(a) ^ x.rotate_right(b) ^ x.rotate_right(c);
    for i in 0..64 {
        let choice = (e & f) ^ (!e & g);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        let first = h
            .wrapping_add(turn(e, 6, 11, 25))
            .wrapping_add(choice)
            .wrapping_add(constants[i])
            .wrapping_add(w[i]);
        let second = turn(a, 2, 13, 22).wrapping_add(majority);
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    for (word, add) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(add);
    }
}

/// The first 32 bits of the fractional parts of the roots of the first primes: ⌊2³²·p^(1/k)⌋ mod 2³², in whole numbers.
fn roots<const N: usize>(k: u32) -> [u32; N] {
    let is_prime = |n: &u128| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    let mut primes = (2_u128..).filter(is_prime);
    [(); N].map(|()| {
        let p = primes.next().expect("there is always another prime");
        let wanted = p << (32 * k);
        let (mut low, mut high) = (0_u128, 1_u128 << 37);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if middle.pow(k) <= wanted { low = middle } else { high = middle }
        }
        low as u32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// [FIPS 180-2, appendix B] and the empty text.
    #[test]
    fn known_answers() {
        assert_eq!(
            sha256(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(
            sha256(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            sha256(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
    }
}
