//! Texts that match a regular expression, made by walking through it. Word boundaries and other assertions are ignored;
//! the final check finds texts that do not match.

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::seed::{Seed, Stream};

/// The most repetitions beyond those that are required.
const USUAL: usize = 4;

/// The most parts of a pattern that are walked through for one text; repetitions of nothing could be endless.
const MAX_STEPS: usize = 100_000;

/// A text for a pattern; later attempts repeat more. `None` if the pattern cannot be read (JSON Schema uses the syntax
/// of ECMAScript) or the text would have more than `limit` bytes.
pub(super) fn text(pattern: &str, attempt: usize, limit: usize, seed: &Seed) -> Option<String> {
    let hir = regex_syntax::Parser::new().parse(pattern).ok()?;
    let spare = USUAL.max(attempt);
    let mut writer = Writer { out: String::new(), spare, limit, steps: MAX_STEPS, stream: seed.stream() };
    writer.write(&hir)?;
    Some(writer.out)
}

struct Writer {
    out: String,
    /// The most repetitions beyond those that are required.
    spare: usize,
    limit: usize,
    /// How many more parts may be walked through.
    steps: usize,
    stream: Stream,
}

impl Writer {
    fn write(&mut self, hir: &Hir) -> Option<()> {
        self.steps = self.steps.checked_sub(1)?;
        if self.out.len() > self.limit {
            return None;
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Some(()),
            HirKind::Literal(literal) => {
                self.out.push_str(std::str::from_utf8(&literal.0).ok()?);
                Some(())
            }
            HirKind::Class(class) => {
                let c = self.member(class)?;
                self.out.push(c);
                Some(())
            }
            HirKind::Repetition(repetition) => {
                let least = repetition.min as usize;
                let most = repetition.max.map_or(usize::MAX, |most| most as usize);
                let spare = self.spare.min(most.saturating_sub(least));
                let times = least + self.stream.index(spare + 1);
                (0..times).try_for_each(|_| self.write(&repetition.sub))
            }
            HirKind::Capture(capture) => self.write(&capture.sub),
            HirKind::Concat(parts) => parts.iter().try_for_each(|part| self.write(part)),
            HirKind::Alternation(parts) => {
                let part = parts.get(self.stream.index(parts.len()))?;
                self.write(part)
            }
        }
    }

    /// A character of a class, a printable ASCII one if the class has any.
    fn member(&mut self, class: &Class) -> Option<char> {
        let ranges: Vec<(u32, u32)> = match class {
            Class::Unicode(class) => {
                class.iter().map(|range| (range.start().into(), range.end().into())).collect()
            }
            Class::Bytes(class) => {
                class.iter().map(|range| (range.start().into(), range.end().into())).collect()
            }
        };
        let printable: Vec<(u32, u32)> = ranges
            .iter()
            .map(|&(start, end)| (start.max(0x20), end.min(0x7e)))
            .filter(|(start, end)| start <= end)
            .collect();
        let ranges = if printable.is_empty() { ranges } else { printable };
        let &(start, end) = ranges.get(self.stream.index(ranges.len()))?;
        let offset = u32::try_from(self.stream.below(u64::from(end - start) + 1)).ok()?;
        // The gap of surrogates has no characters; the start of a range always is one.
        char::from_u32(start + offset).or_else(|| char::from_u32(start))
    }
}
