//! Expressions by operator precedence.
//!
//! Tightest first: index, call, `'`; `^` from right to left; unary `-`; `*` `/`; `+` `-`;
//! comparisons, which do not chain; `not`; `and`; `or`. After `^` a `-` may stand: `2^-1`.
//! Operators of one rank are folded in a loop, so that a sum of any length costs no stack.

use crate::lexer::token::{Decimal, TokenKind};
use crate::parser::cursor::{Parse, Parser};
use crate::syntax::{Arena, Binary, Binder, ExprId, Fold, Name, NodeKind};

/// How tightly an operator binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Power,
}

impl Parser<'_> {
    /// Reads an expression.
    pub(crate) fn expression(&mut self) -> Parse<ExprId> {
        self.ranked(Rank::Or)
    }

    /// Reads operators of at least this rank with their operands.
    fn ranked(&mut self, least: Rank) -> Parse<ExprId> {
        if self.depth == Arena::DEPTH {
            let message = format!("nested too deeply: more than {} levels", Arena::DEPTH);
            return self.refuse_with("E0111", self.span(), message, "name a part with `let`");
        }
        self.depth += 1;
        let parsed = self.operators(least);
        self.depth -= 1;
        parsed
    }

    fn operators(&mut self, least: Rank) -> Parse<ExprId> {
        let start = self.span().start;
        let mut left = self.prefix(start, least)?;
        let mut compared = false;
        while let Some((operator, rank)) = self.operator().filter(|&(_, rank)| rank >= least) {
            if compared && rank == Rank::Comparison {
                let message = "comparisons do not chain".to_owned();
                let hint = "write `a < b and b < c`";
                return self.refuse_with("E0116", self.span(), message, hint);
            }
            self.at += 1;
            let right = self.ranked(match rank {
                Rank::Or => Rank::And,
                Rank::And => Rank::Not,
                Rank::Not | Rank::Comparison => Rank::Sum,
                Rank::Sum => Rank::Product,
                Rank::Product | Rank::Power => Rank::Power,
            })?;
            compared = rank == Rank::Comparison;
            let kind = NodeKind::Binary { operator, left, right };
            left = self.arena.push(kind, self.span_from(start));
        }
        Ok(left)
    }

    /// The operator that stands here.
    fn operator(&self) -> Option<(Binary, Rank)> {
        use TokenKind as T;
        Some(match self.kind()? {
            T::Plus => (Binary::Add, Rank::Sum),
            T::Minus => (Binary::Subtract, Rank::Sum),
            T::Star => (Binary::Multiply, Rank::Product),
            T::Slash => (Binary::Divide, Rank::Product),
            T::Caret => (Binary::Power, Rank::Power),
            T::Same => (Binary::Same, Rank::Comparison),
            T::Differs => (Binary::Differs, Rank::Comparison),
            T::Less => (Binary::Less, Rank::Comparison),
            T::AtMost => (Binary::AtMost, Rank::Comparison),
            T::Greater => (Binary::Greater, Rank::Comparison),
            T::AtLeast => (Binary::AtLeast, Rank::Comparison),
            T::Name if self.text() == "and" => (Binary::And, Rank::And),
            T::Name if self.text() == "or" => (Binary::Or, Rank::Or),
            _ => return None,
        })
    }

    /// Reads an operand with the `-` or `not` before it.
    fn prefix(&mut self, start: u32, least: Rank) -> Parse<ExprId> {
        if self.eat(TokenKind::Minus) {
            let operand = self.ranked(Rank::Power)?;
            return Ok(self.arena.push(NodeKind::Negate(operand), self.span_from(start)));
        }
        if !self.is_word("not") {
            return self.postfix(start);
        }
        if least > Rank::Not {
            let message = "`not` cannot follow this operator".to_owned();
            return self.refuse_with("E0112", self.span(), message, "write `(not …)`");
        }
        self.at += 1;
        let operand = self.ranked(Rank::Not)?;
        Ok(self.arena.push(NodeKind::Not(operand), self.span_from(start)))
    }

    /// Reads an operand with the indices and `'` after it.
    fn postfix(&mut self, start: u32) -> Parse<ExprId> {
        let mut base = self.operand()?;
        loop {
            let kind = if self.kind() == Some(TokenKind::Prime) {
                let mut order = 0;
                while self.eat(TokenKind::Prime) {
                    order += 1;
                }
                NodeKind::Prime { base, order }
            } else if self.eat(TokenKind::LeftBracket) {
                let indices = self.bracketed("an index")?;
                NodeKind::Index { base, indices: self.arena.push_list(&indices) }
            } else {
                return Ok(base);
            };
            base = self.arena.push(kind, self.span_from(start));
        }
    }

    fn operand(&mut self) -> Parse<ExprId> {
        let span = self.span();
        match self.kind() {
            Some(TokenKind::Number) => self.number(),
            Some(TokenKind::Text) => {
                let text = unquoted(self.text());
                self.at += 1;
                let text = self.arena.push_text(text);
                Ok(self.arena.push(NodeKind::Text(text), span))
            }
            Some(TokenKind::Name) if !matches!(self.text(), "and" | "or") => self.named(),
            Some(TokenKind::LeftParen) => {
                self.at += 1;
                if self.kind() == Some(TokenKind::RightParen) {
                    let message = "there is nothing between `(` and `)`".to_owned();
                    return self.refuse("E0120", span.to(self.span()), message);
                }
                let inner = self.expression()?;
                self.expect(TokenKind::RightParen, "`)`")?;
                Ok(inner)
            }
            Some(TokenKind::LeftBracket) => {
                self.at += 1;
                let entries = self.bracketed("an entry")?;
                let entries = self.arena.push_list(&entries);
                Ok(self.arena.push(NodeKind::Vector(entries), self.span_from(span.start)))
            }
            Some(TokenKind::Plus) => {
                let message = format!("expected an expression{}", self.found());
                self.refuse_with("E0112", span, message, "delete the `+` before the term")
            }
            _ => {
                let message = format!("expected an expression{}", self.found());
                self.refuse("E0112", span, message)
            }
        }
    }

    fn number(&mut self) -> Parse<ExprId> {
        let (text, span) = (self.text(), self.span());
        let Some(decimal) = Decimal::from_text(text) else {
            let message =
                format!("the number is not between 10^-{0} and 10^{0}", Decimal::LIMIT);
            return self.refuse_with("E0106", span, message, "choose other units");
        };
        self.at += 1;
        let decimal = self.arena.push_decimal(decimal);
        Ok(self.arena.push(NodeKind::Number(decimal), span))
    }

    /// Reads a name, or a call if `(` follows.
    fn named(&mut self) -> Parse<ExprId> {
        let text = self.text();
        let name = self.name("a name")?;
        if !self.eat(TokenKind::LeftParen) {
            return Ok(self.arena.push(NodeKind::Name(name.symbol), name.span));
        }
        let kind = match text {
            "sum" => self.fold(name, Fold::Sum)?,
            "product" => self.fold(name, Fold::Product)?,
            _ => {
                let arguments = self.arguments()?;
                NodeKind::Call { function: name, arguments: self.arena.push_list(&arguments) }
            }
        };
        Ok(self.arena.push(kind, self.span_from(name.span.start)))
    }

    /// Reads `i = 1..N, body)`.
    fn fold(&mut self, name: Name, fold: Fold) -> Parse<NodeKind> {
        let hint = format!("write `{}(i = 1..N, …)`", fold.word());
        if !self.is_binder() {
            let message = format!("`{}` needs an index and its range", fold.word());
            return self.refuse_with("E0119", name.span, message, &hint);
        }
        let binder = self.binder()?;
        if self.kind() == Some(TokenKind::RightParen) {
            let message = format!("`{}` has nothing after its range", fold.word());
            return self.refuse_with("E0112", self.span(), message, &hint);
        }
        self.expect(TokenKind::Comma, "`,`")?;
        let body = self.expression()?;
        self.expect(TokenKind::RightParen, "`)`")?;
        Ok(NodeKind::Fold { fold, binder, body })
    }

    /// Reads `i = 1..N`.
    pub(crate) fn binder(&mut self) -> Parse<Binder> {
        let name = self.name("an index")?;
        self.expect(TokenKind::Equals, "`=`")?;
        let from = self.expression()?;
        if !self.eat(TokenKind::DotDot) {
            let span = self.arena.span(from);
            let index = self.arena.name(name.symbol);
            let message = format!("the index `{index}` needs a range");
            let hint = format!("write `{index} = 1..N`");
            return self.refuse_with("E0119", span, message, &hint);
        }
        let to = self.expression()?;
        Ok(Binder { name, from, to })
    }

    /// Reads arguments up to `)`; there may be none.
    fn arguments(&mut self) -> Parse<Vec<ExprId>> {
        let mut arguments = Vec::new();
        if self.eat(TokenKind::RightParen) {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.expression()?);
            if self.eat(TokenKind::RightParen) {
                return Ok(arguments);
            }
            self.expect(TokenKind::Comma, "`,` or `)`")?;
        }
    }

    /// Reads entries up to `]`; there is at least one.
    fn bracketed(&mut self, what: &str) -> Parse<Vec<ExprId>> {
        let mut entries = Vec::new();
        if self.kind() == Some(TokenKind::RightBracket) {
            let message = format!("expected {what} between `[` and `]`");
            return self.refuse("E0120", self.span(), message);
        }
        loop {
            entries.push(self.expression()?);
            if self.eat(TokenKind::RightBracket) {
                return Ok(entries);
            }
            self.expect(TokenKind::Comma, "`,` or `]`")?;
        }
    }
}

/// A text in quotes without them, `\"` read as `"`.
pub(crate) fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix(['"', '“', '„', '«']).unwrap_or(text);
    let inner = inner.strip_suffix(['"', '”', '“', '»']).unwrap_or(inner);
    inner.replace("\\\"", "\"")
}
