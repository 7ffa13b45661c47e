//! How deep, and how often again, the parser reads a statement: bounds on its tokens, before it is given them.
//!
//! The parser counts most of its recursion itself, and its callbacks count steps and stack; these are what it neither
//! counts nor calls back for.

use super::Segment;
use crate::budget::Exceeded;

/// Brackets within brackets.
const MAX_NESTING: usize = 40;
/// Tokens between two commas, brackets counted with what they hold at their longest: the tree can't be deeper.
/// The parser makes a tree as deep as a chain of operators is long, and that is dropped and written out by recursion.
const MAX_CHAIN: usize = 1200;
/// Joins that wait for their ON or USING: the parser calls itself for each. In MySQL they may do without, and it joins at
/// most 61 tables.
const MAX_PENDING_JOINS: usize = 61;
/// Tokens that the parser may read, each as often as it may. It takes what begins with several brackets for a query first,
/// for each bracket anew, and where it was none reads all of it again as something else.
const MAX_READINGS: usize = 150_000;
/// Blanks and marks of comments between tokens: the parser's tokenizer makes a token of some 60 bytes of each.
const MAX_BLANKS: usize = 500_000;
/// Blanks that cost as much as one step.
const BLANKS_A_STEP: usize = 4;

/// What stands within one pair of brackets.
#[derive(Default)]
struct BracketLevel {
    /// Tokens since the last comma.
    length: usize,
    /// The most of them between two commas before.
    longest: usize,
    /// Joins that wait for their ON or USING.
    joins: usize,
    /// Which bracket of several in a row opened it, and how often what is outside of them is read.
    run: usize,
    outside: usize,
}

impl BracketLevel {
    fn readings(&self) -> usize {
        self.outside.saturating_mul(self.run)
    }
}

impl Segment<'_> {
    /// Checks that the parser neither runs out of stack nor reads too much of the statement again and again.
    pub fn check_bounds(&self) -> Result<(), Exceeded> {
        let blanks = self.blanks();
        self.budget.spend(blanks / BLANKS_A_STEP)?;
        if blanks > MAX_BLANKS {
            return Err(Exceeded);
        }
        let mut open: Vec<BracketLevel> = Vec::new();
        let mut level = BracketLevel { run: 1, outside: 1, ..BracketLevel::default() };
        let (mut before, mut joins, mut readings) = (0_usize, 0_usize, 0_usize);
        let mut opened = false;
        for index in 0..self.tokens.len() {
            let is = |symbols: [&str; 2]| symbols.iter().any(|s| self.is_symbol(index, s));
            level.length = level.length.saturating_add(1);
            let opens = is(["(", "["]);
            if opens {
                before = before.saturating_add(level.length);
                let (run, outside) =
                    if opened { (level.run.saturating_add(1), level.outside) } else { (1, level.readings()) };
                open.push(std::mem::replace(
                    &mut level,
                    BracketLevel { run, outside, ..BracketLevel::default() },
                ));
            } else if is([")", "]"]) {
                // A bracket may be the deepest operand of what follows it.
                let inside = level.longest.max(level.length);
                joins = joins.saturating_sub(level.joins);
                level = open.pop().unwrap_or_default();
                before = before.saturating_sub(level.length);
                level.length = level.length.saturating_add(inside);
            } else if self.is_symbol(index, ",") {
                level.longest = level.longest.max(level.length);
                level.length = 0;
                joins = joins.saturating_sub(level.joins);
                level.joins = 0;
            } else if matches!(self.word(index), "join" | "straight_join") && !self.is_joined_without(index) {
                level.joins = level.joins.saturating_add(1);
                joins = joins.saturating_add(1);
            } else if matches!(self.word(index), "on" | "using") && level.joins > 0 {
                level.joins = level.joins.saturating_sub(1);
                joins = joins.saturating_sub(1);
            }
            opened = opens;
            readings = readings.saturating_add(level.readings());
            if open.len() > MAX_NESTING
                || before.saturating_add(level.length) > MAX_CHAIN
                || joins > MAX_PENDING_JOINS
                || readings > MAX_READINGS
            {
                return Err(Exceeded);
            }
        }
        Ok(())
    }

    /// At least as many as the parser's tokenizer makes tokens of what stands between ours.
    fn blanks(&self) -> usize {
        let ends = std::iter::once(0).chain(self.tokens.iter().map(|token| token.range.end));
        let starts = self.tokens.iter().map(|token| token.range.start).chain([self.text.len()]);
        let gaps = ends.zip(starts).filter_map(|(end, start)| self.text.as_bytes().get(end..start));
        gaps.flatten().filter(|byte| byte.is_ascii_whitespace() || b"/-#\x0B".contains(byte)).count()
    }

    /// Whether a join is one that has no condition, and for which the parser doesn't call itself: `CROSS JOIN`,
    /// `NATURAL [LEFT [OUTER]] JOIN`.
    fn is_joined_without(&self, join: usize) -> bool {
        let word = |back: usize| join.checked_sub(back).map_or("", |index| self.word(index));
        match word(1) {
            "cross" | "natural" => true,
            "inner" | "left" | "right" | "full" => word(2) == "natural",
            "outer" => word(3) == "natural",
            _ => false,
        }
    }
}
