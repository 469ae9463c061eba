//! One function for each kind of statement.

use crate::lexer::token::{Keyword, TokenKind};
use crate::parser::cursor::{Parse, Parser};
use crate::parser::expression::unquoted;
use crate::source::Span;
use crate::syntax::{
    Assignment, Binary, Constraint, Coordinate, Definition, DefinitionForm, Direction,
    Equation, Event, ExprId, Extent, Force, ForceTarget, Group, Name, NodeKind, Noise,
    Observation, Parameter, Reset, Setting, SettingValue, Slot, StatementKind, Symmetry,
    Target, Text,
};

impl Parser<'_> {
    /// Reads what stands after a keyword, up to the end.
    pub(crate) fn statement(&mut self, keyword: Keyword, span: Span) -> Parse<StatementKind> {
        if self.is_at_end() && self.end <= span.end {
            let message = format!("`{}` says nothing", keyword.word());
            return self.refuse("E0124", span, message);
        }
        Ok(match keyword {
            Keyword::Title => StatementKind::Title(self.title()?),
            Keyword::Coordinates => StatementKind::Coordinates(self.items(Self::coordinate)?),
            Keyword::Parameters => StatementKind::Parameters(self.items(Self::parameter)?),
            Keyword::Let => StatementKind::Let(self.definition()?),
            Keyword::Lagrangian => StatementKind::Lagrangian(self.whole(keyword)?),
            Keyword::Kinetic => StatementKind::Kinetic(self.whole(keyword)?),
            Keyword::Potential => StatementKind::Potential(self.whole(keyword)?),
            Keyword::Dissipation => StatementKind::Dissipation(self.whole(keyword)?),
            Keyword::Constraint => StatementKind::Constraint(self.constraint()?),
            Keyword::Force => StatementKind::Force(self.force()?),
            Keyword::Noise => StatementKind::Noise(self.noise()?),
            Keyword::Equation => StatementKind::Equation(self.equation()?),
            Keyword::Principle => {
                let name = self.name("the name of a principle")?;
                self.finish("the end of the statement")?;
                StatementKind::Principle(name)
            }
            Keyword::Initial => StatementKind::Initial(self.items(Self::assignment)?),
            Keyword::History => StatementKind::History(self.items(Self::assignment)?),
            Keyword::Final => StatementKind::Final(self.items(Self::assignment)?),
            Keyword::Observe => StatementKind::Observe(self.observation()?),
            Keyword::Event => StatementKind::Event(self.event()?),
            Keyword::On => StatementKind::On(self.reset()?),
            Keyword::State => StatementKind::State(self.state()?),
            Keyword::Input => StatementKind::Input(self.input()?),
            Keyword::Control => StatementKind::Control(self.control()?),
            Keyword::Mode => StatementKind::Mode(self.items(|p| p.name("the name of a mode"))?),
            Keyword::Contact => StatementKind::Contact(self.contact()?),
            Keyword::Draw => StatementKind::Draw(self.drawing()?),
            Keyword::Solve => StatementKind::Solve(self.items(Self::setting)?),
            Keyword::Symmetry => StatementKind::Symmetry(self.symmetry()?),
            Keyword::Group => StatementKind::Group(self.group()?),
        })
    }

    fn title(&mut self) -> Parse<Text> {
        let span = self.span();
        if self.kind() != Some(TokenKind::Text) {
            let message = "a title must be in quotes".to_owned();
            let rest = self.source.slice(Span::new(span.start, self.end));
            return self.refuse_with(
                "E0121",
                span,
                message,
                &format!("write `title \"{rest}\"`"),
            );
        }
        let value = unquoted(self.text());
        self.at += 1;
        self.finish("the end of the statement")?;
        Ok(Text { span, value })
    }

    /// Reads an expression that is the whole statement.
    pub(crate) fn whole(&mut self, keyword: Keyword) -> Parse<ExprId> {
        let value = self.expression()?;
        self.end_of_one(keyword)?;
        Ok(value)
    }

    /// Demands the end of a statement that takes one item.
    pub(crate) fn end_of_one(&mut self, keyword: Keyword) -> Parse<()> {
        if self.kind() == Some(TokenKind::Comma) {
            let word = keyword.word();
            let message = format!("`{word}` takes one item, but another one begins here");
            let hint = format!("start a new line with `{word}`");
            return self.refuse_with("E0123", self.span(), message, &hint);
        }
        self.finish("an operator or the end of the statement")
    }

    fn coordinate(&mut self) -> Parse<Coordinate> {
        let name = self.name("the name of a coordinate")?;
        let mut extents = Vec::new();
        if self.eat(TokenKind::LeftBracket) {
            loop {
                let first = self.expression()?;
                extents.push(if self.eat(TokenKind::DotDot) {
                    Extent { from: Some(first), to: self.expression()? }
                } else {
                    Extent { from: None, to: first }
                });
                if self.eat(TokenKind::RightBracket) {
                    break;
                }
                self.expect(TokenKind::Comma, "`,` or `]`")?;
            }
        }
        match self.kind() {
            Some(TokenKind::Equals) => {
                let message = "a coordinate cannot get a value where it is declared".to_owned();
                let name = self.arena.name(name.symbol);
                let hint = format!("write `initial {name} = …`");
                self.refuse_with("E0113", self.span(), message, &hint)
            }
            Some(TokenKind::Name) if !self.is_stray_keyword() => {
                let message = format!("expected `,`{}", self.found());
                self.refuse_with("E0113", self.span(), message, "names are separated by `,`")
            }
            _ => Ok(Coordinate { name, extents }),
        }
    }

    fn parameter(&mut self) -> Parse<Parameter> {
        let name = self.name("the name of a parameter")?;
        let value = if self.eat(TokenKind::Equals) { Some(self.expression()?) } else { None };
        if value.is_some() {
            return Ok(Parameter { name, value });
        }
        match self.token() {
            Some(token) if token.kind == TokenKind::LeftBracket => {
                let message = "a parameter takes its size from its value".to_owned();
                let name = self.arena.name(name.symbol);
                let hint = format!("write `{name} = [1, 2]`");
                self.refuse_with("E0113", token.span, message, &hint)
            }
            Some(token) if token.kind == TokenKind::Same => {
                let message = "a value is given with `=`".to_owned();
                self.refuse_with("E0117", token.span, message, "write `=`")
            }
            Some(token) if token.kind != TokenKind::Comma && !self.is_stray_keyword() => {
                let message = format!("expected `=` or `,`{}", self.found());
                self.refuse("E0113", token.span, message)
            }
            _ => Ok(Parameter { name, value }),
        }
    }

    fn definition(&mut self) -> Parse<Definition> {
        let name = self.name("the name to define")?;
        let form = if self.eat(TokenKind::LeftParen) {
            let mut arguments = vec![self.name("the name of an argument")?];
            while !self.eat(TokenKind::RightParen) {
                self.expect(TokenKind::Comma, "`,` or `)`")?;
                arguments.push(self.name("the name of an argument")?);
            }
            DefinitionForm::Function(arguments)
        } else if self.kind() == Some(TokenKind::LeftBracket) {
            DefinitionForm::Family(self.slots()?)
        } else {
            DefinitionForm::Plain
        };
        self.equals(name.span)?;
        let value = self.whole(Keyword::Let)?;
        Ok(Definition { name, form, value })
    }

    /// Reads the `=` between a name and its value.
    pub(crate) fn equals(&mut self, named: Span) -> Parse<()> {
        if self.eat(TokenKind::Equals) {
            return Ok(());
        }
        if self.kind() == Some(TokenKind::Same) {
            let message = "a value is given with `=`".to_owned();
            return self.refuse_with("E0117", self.span(), message, "write `=`");
        }
        if self.is_at_end() || self.kind() == Some(TokenKind::Comma) {
            let target = self.span_from(named.start);
            let message = format!("`{}` has no value", self.source.slice(target));
            return self.refuse("E0115", target, message);
        }
        let message = format!("expected `=`{}", self.found());
        self.refuse("E0115", self.span(), message)
    }

    /// Reads `[i = 1..N, 2]` after a name; nothing if there is no bracket.
    pub(crate) fn slots(&mut self) -> Parse<Vec<Slot>> {
        let mut slots = Vec::new();
        if !self.eat(TokenKind::LeftBracket) {
            return Ok(slots);
        }
        loop {
            if self.kind() == Some(TokenKind::RightBracket) && slots.is_empty() {
                let message = "expected an index between `[` and `]`".to_owned();
                return self.refuse("E0120", self.span(), message);
            }
            slots.push(if self.is_binder() {
                Slot::Each(self.binder()?)
            } else {
                Slot::At(self.expression()?)
            });
            if self.kind() == Some(TokenKind::DotDot) {
                let message = "the range has no index".to_owned();
                let hint = "write `i = 1..N`";
                return self.refuse_with("E0119", self.span(), message, hint);
            }
            if self.eat(TokenKind::RightBracket) {
                return Ok(slots);
            }
            self.expect(TokenKind::Comma, "`,` or `]`")?;
        }
    }

    fn constraint(&mut self) -> Parse<Constraint> {
        let (mut name, mut slots, mut along) = (None, Vec::new(), None);
        if self.find(TokenKind::Colon).is_some() {
            if !self.is_along() {
                name = Some(self.name("the name of the constraint")?);
                slots = self.slots()?;
            }
            if self.is_word("along") {
                self.at += 1;
                along = Some(self.expression()?);
            }
            self.expect(TokenKind::Colon, "`:`")?;
        } else {
            self.refuse_missing_colon()?;
        }
        let (left, right) = self.sides(Keyword::Constraint)?;
        let condition = self.condition()?;
        self.end_of_one(Keyword::Constraint)?;
        if right.is_none() && !matches!(self.arena.kind(left), NodeKind::Call { .. }) {
            return self.refuse_no_equation(left);
        }
        Ok(Constraint { name, slots, along, left, right, condition })
    }

    /// Whether `along w:` stands here: not a constraint of that name, alone or a family.
    fn is_along(&self) -> bool {
        let family = self.kind_ahead(1) == Some(TokenKind::LeftBracket)
            && self.kind_ahead(2) == Some(TokenKind::Name)
            && self.kind_ahead(3) == Some(TokenKind::Equals);
        self.is_word("along")
            && self.kind_ahead(1) != Some(TokenKind::Colon)
            && !self.is_word_ahead("along")
            && !family
    }

    /// Refuses `constraint blade y' = 0`, where two words stand side by side and no `:`.
    fn refuse_missing_colon(&mut self) -> Parse<()> {
        let word = self.text();
        let two = self.kind() == Some(TokenKind::Name)
            && matches!(self.kind_ahead(1), Some(TokenKind::Name | TokenKind::Number));
        if !two || word == "not" || self.is_word_ahead("and") || self.is_word_ahead("or") {
            return Ok(());
        }
        let span = self.span();
        let message = format!("expected `:` after the name `{word}`");
        self.refuse("E0118", Span::empty(span.end), message)
    }

    /// Reads `left = right`, or `left` alone, up to the end.
    fn relation(&mut self, keyword: Keyword) -> Parse<(ExprId, Option<ExprId>)> {
        let sides = self.sides(keyword)?;
        self.end_of_one(keyword)?;
        Ok(sides)
    }

    /// Reads `left = right`, or `left` alone.
    fn sides(&mut self, keyword: Keyword) -> Parse<(ExprId, Option<ExprId>)> {
        let left = self.expression()?;
        let right = if self.eat(TokenKind::Equals) { Some(self.expression()?) } else { None };
        if right.is_some() && self.kind() == Some(TokenKind::Equals) {
            let message = "a second `=` in one equation".to_owned();
            let hint = format!("start a new line with `{}`", keyword.word());
            return self.refuse_with("E0123", self.span(), message, &hint);
        }
        Ok((left, right))
    }

    /// Says that an expression is no equation.
    fn refuse_no_equation<T>(&mut self, left: ExprId) -> Parse<T> {
        let node = self.arena.node(left);
        let span = node.span;
        match node.kind {
            NodeKind::Binary { operator: Binary::Same, .. } => {
                let message = "an equation is written with `=`".to_owned();
                self.refuse_with("E0117", span, message, "write `=` for `==`")
            }
            NodeKind::Binary {
                operator: Binary::Less | Binary::AtMost | Binary::Greater | Binary::AtLeast,
                ..
            } => {
                let message = "an inequality is not an equation".to_owned();
                let hint =
                    "a constraint is an equation; `event` finds where a bound is reached";
                self.refuse_with("E0115", span, message, hint)
            }
            _ => {
                let message = "an equation needs `=`".to_owned();
                self.refuse_with(
                    "E0115",
                    Span::empty(span.end),
                    message,
                    "write `= 0` for an expression that must vanish",
                )
            }
        }
    }

    fn force(&mut self) -> Parse<Force> {
        if self.find(TokenKind::Colon).is_none() {
            let message = "a force needs `:` between what it acts on and its value".to_owned();
            let hint = "write `force x: …` or `force at [X, Y]: […]`";
            return self.refuse_with("E0118", Span::empty(self.end), message, hint);
        }
        let family = self.kind_ahead(1) == Some(TokenKind::LeftBracket)
            && self.kind_ahead(2) == Some(TokenKind::Name)
            && self.kind_ahead(3) == Some(TokenKind::Equals);
        let at_point =
            self.is_word("at") && self.kind_ahead(1) != Some(TokenKind::Colon) && !family;
        let on = if self.is_word("density") && self.is_word_ahead("at") {
            self.density()?
        } else if at_point {
            self.at += 1;
            ForceTarget::Point(self.expression()?)
        } else {
            let name = self.name("a coordinate")?;
            ForceTarget::Coordinate { name, slots: self.slots()? }
        };
        self.expect(TokenKind::Colon, "`:`")?;
        let (value, condition) = self.conditional(Keyword::Force)?;
        Ok(Force { on, value, condition })
    }

    fn noise(&mut self) -> Parse<Noise> {
        if self.find(TokenKind::Colon).is_none() {
            let message = "noise needs `:` between what it acts on and its strength".to_owned();
            let hint = "write `noise x: …`";
            return self.refuse_with("E0118", Span::empty(self.end), message, hint);
        }
        let name = self.name("a coordinate")?;
        let slots = self.slots()?;
        self.expect(TokenKind::Colon, "`:`")?;
        Ok(Noise { name, slots, value: self.whole(Keyword::Noise)? })
    }

    /// Reads `density at r + phi*a for a in box(M, 1, 2)`.
    fn density(&mut self) -> Parse<ForceTarget> {
        self.at += 2;
        let point = self.expression()?;
        if !self.is_word("for") {
            return self.refuse_density();
        }
        self.at += 1;
        let name = self.name("the name of a material point")?;
        if !self.is_word("in") {
            return self.refuse_density();
        }
        self.at += 1;
        Ok(ForceTarget::Density { point, name, body: self.expression()? })
    }

    fn refuse_density<T>(&mut self) -> Parse<T> {
        let message = "a force density needs a body after its point".to_owned();
        let hint = "write `force density at r + phi*a for a in box(M, 1, 2): …`";
        self.refuse_with("E0419", self.span(), message, hint)
    }

    fn equation(&mut self) -> Parse<Equation> {
        let (mut name, mut slots) = (None, Vec::new());
        if self.find(TokenKind::Colon).is_some() {
            if self.kind() != Some(TokenKind::LeftBracket) {
                name = Some(self.name("the name of the equation")?);
            }
            slots = self.slots()?;
            self.expect(TokenKind::Colon, "`:`")?;
        } else {
            self.refuse_missing_colon()?;
        }
        let (left, right) = self.relation(Keyword::Equation)?;
        let Some(right) = right else { return self.refuse_no_equation(left) };
        Ok(Equation { name, slots, left, right })
    }

    /// Reads `x' = 1`.
    pub(crate) fn assignment(&mut self) -> Parse<Assignment> {
        let target = self.target()?;
        self.equals(target.span)?;
        Ok(Assignment { target, value: self.expression()? })
    }

    fn target(&mut self) -> Parse<Target> {
        let name = self.name("what gets a value")?;
        let (mut of, mut slots, mut order) = (None, Vec::new(), 0);
        if self.eat(TokenKind::LeftParen) {
            if self.kind() == Some(TokenKind::Number) {
                let message = format!("`{}` is not a constraint", self.text());
                let hint = format!("write `{} = …`", self.arena.name(name.symbol));
                return self.refuse_with("E0114", self.span(), message, &hint);
            }
            of = Some(self.name("the name of a constraint")?);
            slots = self.slots()?;
            self.expect(TokenKind::RightParen, "`)`")?;
        }
        loop {
            if self.eat(TokenKind::Prime) {
                order += 1;
            } else if self.kind() == Some(TokenKind::LeftBracket) && slots.is_empty() {
                slots = self.slots()?;
            } else {
                let span = self.span_from(name.span.start);
                return Ok(Target { span, name, of, slots, order });
            }
        }
    }

    fn observation(&mut self) -> Parse<Observation> {
        let name = self.name("the name of the output")?;
        let slots = self.slots()?;
        self.equals(name.span)?;
        Ok(Observation { name, slots, value: self.whole(Keyword::Observe)? })
    }

    fn event(&mut self) -> Parse<Event> {
        if self.find(TokenKind::Colon).is_none() {
            let message = "an event needs `:` after its name".to_owned();
            return self.refuse("E0118", Span::empty(self.end), message);
        }
        let (mut stop, mut goes_on, mut direction) = (false, false, Direction::Both);
        while self.kind_ahead(1) == Some(TokenKind::Name) {
            let (word, span) = (self.text(), self.span());
            let fresh = match word {
                "stop" => !std::mem::replace(&mut stop, true) && !goes_on,
                "continue" => !std::mem::replace(&mut goes_on, true) && !stop,
                "rising" | "falling" => {
                    let rising = word == "rising";
                    let wanted = if rising { Direction::Rising } else { Direction::Falling };
                    std::mem::replace(&mut direction, wanted) == Direction::Both
                }
                _ => {
                    let message =
                        format!("`{word}` is not allowed before the name of an event");
                    let hint = "write `stop` or `continue`, and `rising` or `falling`";
                    return self.refuse_with("E0122", span, message, hint);
                }
            };
            if !fresh {
                let message = format!("`{word}` cannot be combined with the words before it");
                let hint =
                    "use each word once; without `rising` and `falling` both directions count";
                return self.refuse_with("E0122", span, message, hint);
            }
            self.at += 1;
        }
        let name = self.name("the name of the event")?;
        let slots = self.slots()?;
        self.expect(TokenKind::Colon, "`:`")?;
        let (value, condition) = self.conditional(Keyword::Event)?;
        Ok(Event { name, slots, direction, stop, goes_on, value, condition })
    }

    /// Reads `hit: x' = -e*x', th = -th`.
    fn reset(&mut self) -> Parse<Reset> {
        if self.find(TokenKind::Colon).is_none() {
            let message = "`on` needs `:` after the name of the event".to_owned();
            return self.refuse("E0118", Span::empty(self.end), message);
        }
        let event = self.name("the name of an event")?;
        let slots = self.slots()?;
        self.expect(TokenKind::Colon, "`:`")?;
        Ok(Reset { event, slots, values: self.items(Self::assignment)? })
    }

    pub(crate) fn setting(&mut self) -> Parse<Setting> {
        let name = self.name("a setting")?;
        self.equals(name.span)?;
        let value = self.expression()?;
        let value = if self.eat(TokenKind::DotDot) {
            SettingValue::Range(value, self.expression()?)
        } else {
            SettingValue::Value(value)
        };
        Ok(Setting { name, value })
    }

    fn group(&mut self) -> Parse<Group> {
        let name = self.name("the name of a group")?;
        self.expect(TokenKind::LeftParen, "`(`")?;
        let size = self.text().parse::<u32>();
        let Ok(size) = size else { return self.unexpected("a whole number") };
        self.expect(TokenKind::Number, "a whole number")?;
        self.expect(TokenKind::RightParen, "`)`")?;
        self.expect(TokenKind::Colon, "`:`")?;
        Ok(Group { name, size, coordinates: self.items(Self::target)? })
    }

    fn symmetry(&mut self) -> Parse<Symmetry> {
        let mut name: Option<Name> = None;
        if self.find(TokenKind::Colon).is_some() {
            name = Some(self.name("the name of the symmetry")?);
            self.expect(TokenKind::Colon, "`:`")?;
        }
        Ok(Symmetry { name, components: self.items(Self::assignment)? })
    }
}
