//! Statements of motions that switch.

use crate::lexer::token::{Keyword, TokenKind};
use crate::parser::cursor::{Parse, Parser};
use crate::source::Span;
use crate::syntax::{Binary, Condition, Contact, Control, ExprId, Input, NodeKind, State};

impl Parser<'_> {
    /// Reads an expression and when it holds, up to the end.
    pub(crate) fn conditional(&mut self, keyword: Keyword) -> Parse<(ExprId, Condition)> {
        let value = self.expression()?;
        let condition = self.condition()?;
        self.end_of_one(keyword)?;
        Ok((value, condition))
    }

    /// Reads `in stance, flight` and `when x > 0`, if they stand here.
    pub(crate) fn condition(&mut self) -> Parse<Condition> {
        let mut condition = Condition::default();
        if self.is_word("in") {
            self.at += 1;
            condition.modes.push(self.name("the name of a mode")?);
            while self.kind() == Some(TokenKind::Comma)
                && self.kind_ahead(1) == Some(TokenKind::Name)
                && self.kind_ahead(2) != Some(TokenKind::Equals)
            {
                self.at += 1;
                condition.modes.push(self.name("the name of a mode")?);
            }
        }
        if self.is_word("when") {
            self.at += 1;
            condition.when = Some(self.expression()?);
        }
        Ok(condition)
    }

    /// Reads `z: -z/tau + x`.
    pub(crate) fn state(&mut self) -> Parse<State> {
        let name = self.name("the name of a variable")?;
        if self.kind() != Some(TokenKind::Colon) {
            let message = "a state needs `:` between its name and its rate".to_owned();
            let hint = "write `state z: …` for z' = …";
            return self.refuse_with("E0118", Span::empty(name.span.end), message, hint);
        }
        self.at += 1;
        Ok(State { name, rate: self.whole(Keyword::State)? })
    }

    /// Reads `u = 0` or `u: sin(t)`.
    pub(crate) fn input(&mut self) -> Parse<Input> {
        let name = self.name("the name of an input")?;
        let is_function = self.eat(TokenKind::Colon);
        if !is_function {
            self.equals(name.span)?;
        }
        Ok(Input { name, value: self.whole(Keyword::Input)?, is_function })
    }

    /// Reads `u = -k*x every 0.01`.
    pub(crate) fn control(&mut self) -> Parse<Control> {
        let name = self.name("the name of a control")?;
        self.equals(name.span)?;
        let value = self.expression()?;
        let mut every = None;
        if self.is_word("every") {
            self.at += 1;
            every = Some(self.expression()?);
        }
        self.end_of_one(Keyword::Control)?;
        Ok(Control { name, value, every })
    }

    /// Reads `floor: y >= 0, restitution = 0.8 in flight`, or `rail: y = 0, friction = mu`.
    pub(crate) fn contact(&mut self) -> Parse<Contact> {
        if self.find(TokenKind::Colon).is_none() {
            let message = "a contact needs `:` after its name".to_owned();
            return self.refuse("E0118", Span::empty(self.end), message);
        }
        let name = self.name("the name of the contact")?;
        let slots = self.slots()?;
        self.expect(TokenKind::Colon, "`:`")?;
        let start = self.span().start;
        let mut relation = self.expression()?;
        if self.eat(TokenKind::Equals) {
            let right = self.expression()?;
            let kind = NodeKind::Binary { operator: Binary::Same, left: relation, right };
            relation = self.arena.push(kind, self.span_from(start));
        }
        let mut settings = Vec::new();
        while self.eat(TokenKind::Comma) {
            settings.push(self.setting()?);
        }
        let condition = self.condition()?;
        self.finish("`,` or the end of the statement")?;
        Ok(Contact { name, slots, relation, settings, condition })
    }
}
