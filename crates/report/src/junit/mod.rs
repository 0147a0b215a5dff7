//! Results as JUnit's XML, which every build server reads. The document keeps both schemas that are in use: Jenkins's
//! `junit-10.xsd`, and within each suite that of Maven Surefire.
//!
//! Cases go into a temporary file as they come, because a suite says first how many of them failed.

mod comparison;
mod score;
mod validation;

use std::io::{self, Seek as _, Write};

pub use comparison::write_comparison_as_junit;
use m3_support::text::visible;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
pub use score::Junit;
use tempfile::SpooledTempFile;
pub use validation::write_validation_as_junit;

/// How many bytes of cases are kept in memory; further ones are kept on disk.
const MEMORY: usize = 8 << 20;

/// The longest message of a case, in columns; its text has everything.
const MESSAGE: usize = 300;

/// The outcome of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    Passed,
    /// The case is not what was asked for.
    Failed(Reason),
    /// The case could not be tried.
    Errored(Reason),
    /// The case was tried, but cannot be decided.
    Skipped(String),
}

/// Why a case failed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reason {
    /// A word for programs.
    kind: String,
    /// The message, in a sentence.
    message: String,
    /// The whole text, line by line.
    text: String,
}

impl Reason {
    /// A reason whose text is only its message.
    fn new(kind: &str, message: String) -> Self {
        Self { kind: kind.to_owned(), text: message.clone(), message }
    }
}

/// A test case: a trajectory, a task or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Case {
    /// The class by which viewers group cases.
    class: String,
    name: String,
    outcome: Outcome,
    /// Further output of the case, line by line.
    output: String,
}

/// A document of JUnit's XML that is being written.
struct Document<W: Write> {
    writer: Writer<W>,
}

/// A suite that is being gathered.
struct Suite {
    cases: Writer<SpooledTempFile>,
    tests: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
}

impl<W: Write> Document<W> {
    /// Begins a document.
    fn new(writer: W) -> io::Result<Self> {
        let mut writer = Writer::new(writer);
        writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        writer.get_mut().write_all(b"\n")?;
        writer.write_event(Event::Start(element("testsuites", &[("name", "m3")])))?;
        Ok(Self { writer })
    }

    /// Writes a suite.
    fn suite(&mut self, name: &str, suite: Suite) -> io::Result<()> {
        let Suite { cases, tests, failures, errors, skipped } = suite;
        let counts = [tests, failures, errors, skipped].map(|count| count.to_string());
        let [tests, failures, errors, skipped] = counts.each_ref().map(String::as_str);
        let attributes = [
            ("name", name),
            ("tests", tests),
            ("failures", failures),
            ("errors", errors),
            ("skipped", skipped),
            ("time", NO_TIME),
        ];
        self.writer.get_mut().write_all(b"\n  ")?;
        self.writer.write_event(Event::Start(element("testsuite", &attributes)))?;
        let mut cases = cases.into_inner();
        cases.rewind()?;
        io::copy(&mut cases, self.writer.get_mut())?;
        self.writer.get_mut().write_all(b"\n  ")?;
        self.writer.write_event(Event::End(BytesEnd::new("testsuite")))
    }

    /// Ends the document.
    fn finish(&mut self) -> io::Result<()> {
        self.writer.get_mut().write_all(b"\n")?;
        self.writer.write_event(Event::End(BytesEnd::new("testsuites")))?;
        self.writer.get_mut().write_all(b"\n")?;
        self.writer.get_mut().flush()
    }
}

/// m3 does not know how long a case took, and Surefire's schema wants a time.
const NO_TIME: &str = "0";

impl Suite {
    fn new() -> Self {
        let cases = Writer::new(SpooledTempFile::new(MEMORY));
        Self { cases, tests: 0, failures: 0, errors: 0, skipped: 0 }
    }

    fn add(&mut self, case: &Case) -> io::Result<()> {
        self.tests += 1;
        self.cases.get_mut().write_all(b"\n    ")?;
        let attributes = [("name", case.name.as_str()), ("classname", &case.class), ("time", NO_TIME)];
        self.cases.write_event(Event::Start(element("testcase", &attributes)))?;
        match &case.outcome {
            Outcome::Passed => {}
            Outcome::Failed(reason) => {
                self.failures += 1;
                self.reason("failure", reason)?;
            }
            Outcome::Errored(reason) => {
                self.errors += 1;
                self.reason("error", reason)?;
            }
            Outcome::Skipped(message) => {
                self.skipped += 1;
                self.cases.write_event(Event::Empty(element("skipped", &[("message", message)])))?;
            }
        }
        if !case.output.is_empty() {
            self.text(element("system-out", &[]), &case.output)?;
        }
        self.cases.write_event(Event::End(BytesEnd::new("testcase")))
    }

    fn reason(&mut self, name: &'static str, reason: &Reason) -> io::Result<()> {
        let message = m3_support::text::shortened(&reason.message, MESSAGE);
        self.text(element(name, &[("message", &message), ("type", &reason.kind)]), &reason.text)
    }

    /// Writes an element with a text. Line breaks stay; characters that XML or a terminal cannot safely hold are shown.
    fn text(&mut self, start: BytesStart<'static>, text: &str) -> io::Result<()> {
        let end = start.to_end().into_owned();
        self.cases.write_event(Event::Start(start))?;
        self.cases.write_event(Event::Text(BytesText::new(&visible(text, true))))?;
        self.cases.write_event(Event::End(end))
    }
}

/// The start of an element; the values of its attributes are made visible and escaped.
fn element(name: &'static str, attributes: &[(&str, &str)]) -> BytesStart<'static> {
    let mut start = BytesStart::new(name);
    for (name, value) in attributes {
        start.push_attribute((*name, &*visible(value, false)));
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    /// XML 1.0, section 2.2, forbids most control characters and the noncharacters at the end of planes; a reader refuses the
    /// whole document for one.
    #[test]
    fn no_character_breaks_the_document() {
        let planes = (0..=0x2_ffff).filter_map(char::from_u32);
        let text: String = planes.chain("]]><!--\n&amp;".chars()).collect();
        let reason = Reason { kind: text.clone(), message: text.clone(), text: text.clone() };
        let mut suite = Suite::new();
        for outcome in
            [Outcome::Failed(reason.clone()), Outcome::Errored(reason), Outcome::Skipped(text.clone())]
        {
            let case = Case { class: text.clone(), name: text.clone(), outcome, output: text.clone() };
            suite.add(&case).unwrap();
        }
        let mut written = Vec::new();
        let mut document = Document::new(&mut written).unwrap();
        document.suite(&text, suite).unwrap();
        document.finish().unwrap();
        let written = String::from_utf8(written).unwrap();
        let read = roxmltree::Document::parse(&written).unwrap();
        let case = read.descendants().find(|node| node.has_tag_name("testcase")).unwrap();
        assert_eq!(case.attribute("name"), Some(&*visible(&text, false)));
        let output = read.descendants().find(|node| node.has_tag_name("system-out")).unwrap();
        assert_eq!(output.text(), Some(&*visible(&text, true)));
        let suite = read.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
        let counts = ["tests", "failures", "errors", "skipped"].map(|name| suite.attribute(name).unwrap());
        assert_eq!(counts, ["3", "1", "1", "1"]);
    }
}
