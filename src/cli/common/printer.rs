//! The only module that prints. Standard output is for data, standard error for messages.

use std::io::{self, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use m3_report::visible;
use m3_trajectory::{Problem, Severity};

use crate::cli::common::listener::Listener;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// The time until a bar appears; shorter work shows none.
const PATIENCE: Duration = Duration::from_millis(700);

/// Prints messages; if the user wants quiet, only errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    is_quiet: bool,
    is_styled: bool,
}

impl Printer {
    /// With `is_quiet`, only errors are printed.
    pub(crate) fn new(is_quiet: bool) -> Self {
        // Colours are used on a terminal, unless `NO_COLOR` and the like forbid them.
        let is_styled = Listener::current().is_none()
            && anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        Self { is_quiet, is_styled }
    }

    /// Standard output, or the output of the program that called the command.
    pub(crate) fn out() -> Box<dyn Write> {
        match Listener::current() {
            Some(listener) => Box::new(listener),
            None => Box::new(io::BufWriter::new(io::stdout())),
        }
    }

    /// Whether standard output may have colours and bold type.
    pub(crate) fn is_styled(self) -> bool {
        self.is_styled
    }

    /// The width of the terminal, in columns, if standard output is a terminal with a known width.
    pub(crate) fn columns() -> Option<u16> {
        if Listener::current().is_some() {
            return None;
        }
        let columns = rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| size.ws_col);
        columns.filter(|columns| *columns > 0)
    }

    /// Prints an error of the command.
    pub(crate) fn error(message: &str) {
        tell(Severity::Error, message, None);
    }

    /// Whether a program gets all messages, rather than a person who reads them.
    pub(crate) fn has_listener() -> bool {
        Listener::current().is_some()
    }

    /// Prints an error in a file.
    pub(crate) fn problem(problem: &Problem) {
        tell(Severity::Error, &problem.to_string(), Some(problem));
    }

    /// Standard error, for messages.
    pub(crate) fn message_output() -> impl Write + Send + 'static {
        anstream::stderr()
    }

    /// Prints a warning.
    pub(crate) fn warn(self, message: &str) {
        if !self.is_quiet {
            tell(Severity::Warning, message, None);
        }
    }

    /// Writes a warning to `out`.
    pub(crate) fn warn_to(self, out: &mut impl Write, message: &str) {
        if !self.is_quiet {
            say(out, Severity::Warning, message);
        }
    }

    /// Prints a note on what is being done.
    pub(crate) fn note(self, message: &str) {
        if !self.is_quiet {
            tell(Severity::Note, message, None);
        }
    }

    /// Prints an event on its own line of standard error; not for use while a live view is shown.
    pub(crate) fn event(self, message: &str) {
        self.event_to(&mut Self::message_output(), message);
    }

    /// Writes an event to `out`, on its own line.
    pub(crate) fn event_to(self, out: &mut impl Write, message: &str) {
        if !self.is_quiet {
            // Errors in writing to standard error cannot be reported.
            let _ = writeln!(out, "{}", visible(message, true));
        }
    }

    /// Whether only errors are printed.
    pub(crate) fn is_quiet(self) -> bool {
        self.is_quiet
    }

    /// Whether standard error is a terminal, where bars are shown.
    pub(crate) fn is_watched(self) -> bool {
        !self.is_quiet && io::stderr().is_terminal()
    }

    /// Makes `count` lines that change in place; on a terminal only.
    pub(crate) fn live(self, count: usize) -> Option<Live> {
        if !self.is_watched() {
            return None;
        }
        let all = MultiProgress::new();
        let style = ProgressStyle::with_template("{wide_msg}").ok()?;
        let lines = (0..count).map(|_| all.add(ProgressBar::new_spinner().with_style(style.clone())));
        Some(Live { lines: lines.collect(), all })
    }

    /// A bar that counts pieces of work. It appears once the work has taken a moment, on a terminal only.
    pub(crate) fn bar(self) -> Bar {
        self.bar_with("{msg} {bar:24} {pos}/{len} {eta}")
    }

    /// A bar that counts bytes.
    pub(crate) fn byte_bar(self) -> Bar {
        self.bar_with("{msg} {bar:24} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta}")
    }

    fn bar_with(self, template: &str) -> Bar {
        let listener = Listener::current();
        let is_visible = listener.is_none() && self.is_watched();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
        }
        Bar { shown: bar, begin: is_visible.then(Instant::now), is_drawn: AtomicBool::new(false), listener }
    }

    /// A function that shows the progress of `work` in a bar: the amount that is done, and the total.
    pub(crate) fn progress(self, work: &'static str) -> impl Fn(usize, usize) {
        let bar = self.bar();
        move |done, total| bar.set(work, done as u64, total as u64)
    }
}

/// Passes a message to the program that called this command, or prints it.
fn tell(severity: Severity, message: &str, problem: Option<&Problem>) {
    match Listener::current() {
        Some(listener) => listener.hear(severity, message, problem),
        None => say(&mut Printer::message_output(), severity, message),
    }
}

/// Writes a labelled message. Errors in writing to standard error cannot be reported.
fn say(out: &mut impl Write, severity: Severity, message: &str) {
    let style = match severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
        Severity::Note => NOTE,
    };
    let _ = writeln!(out, "{style}{severity}{style:#}: {}", visible(message, true));
}

/// Lines that change in place.
pub(crate) struct Live {
    all: MultiProgress,
    lines: Vec<ProgressBar>,
}

impl Live {
    /// Shows these lines; lines beyond the count are left out.
    pub(crate) fn set(&self, texts: &[String]) {
        for (index, line) in self.lines.iter().enumerate() {
            line.set_message(
                texts.get(index).map_or_else(String::new, |text| visible(text, false).into_owned()),
            );
            line.tick();
        }
    }

    /// Runs `say`, which prints something, with the lines hidden meanwhile.
    pub(crate) fn aside(&self, say: impl FnOnce()) {
        self.all.suspend(say);
    }

    /// Removes the lines.
    pub(crate) fn clear(&self) {
        // Errors are ignored: a terminal that cannot be written to shows nothing anyway.
        let _ = self.all.clear();
    }
}

/// A progress bar.
pub(crate) struct Bar {
    shown: ProgressBar,
    /// The program that called the command; it gets the progress instead of the bar.
    listener: Option<Listener>,
    /// When the work began; `None` for a bar that is never drawn.
    begin: Option<Instant>,
    is_drawn: AtomicBool,
}

impl Bar {
    /// Moves the bar.
    pub(crate) fn set(&self, message: &'static str, done: u64, total: u64) {
        if let Some(listener) = &self.listener {
            return listener.progress(message, done, total);
        }
        let is_due = self.begin.is_some_and(|begin| begin.elapsed() > PATIENCE);
        if is_due && !self.is_drawn.swap(true, Ordering::Relaxed) {
            self.shown.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.shown.set_message(message);
        self.shown.set_length(total);
        self.shown.set_position(done);
    }

    /// Runs `say`, which prints something, with the bar hidden meanwhile.
    pub(crate) fn aside(&self, say: impl FnOnce()) {
        self.shown.suspend(say);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.shown.finish_and_clear();
    }
}
