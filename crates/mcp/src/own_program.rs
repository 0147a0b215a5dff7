//! The program that is `m3`: the running one, unless another program has m3 inside.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

static OWN_PROGRAM: OnceLock<OwnProgram> = OnceLock::new();

/// The command that is `m3` where the running program is another one: a Python interpreter that has m3 as a module.
#[derive(Debug)]
pub struct OwnProgram {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl OwnProgram {
    /// Names the program and its first arguments, such as `python -m m3`. Only the first call counts.
    pub fn set(command: Vec<OsString>) {
        let mut command = command.into_iter();
        if let Some(program) = command.next() {
            // A second call names the same command.
            let _ = OWN_PROGRAM.set(Self { program: program.into(), arguments: command.collect() });
        }
    }

    /// The program that is `m3`.
    pub(super) fn path() -> io::Result<PathBuf> {
        OWN_PROGRAM.get().map_or_else(std::env::current_exe, |own| Ok(own.program.clone()))
    }

    /// The variables that the program needs to find itself, besides those that every server gets.
    pub(super) fn variables() -> &'static [&'static str] {
        if OWN_PROGRAM.get().is_some() { &["PYTHONPATH"] } else { &[] }
    }

    /// The first arguments of the program, before those of any command.
    pub(super) fn arguments() -> &'static [OsString] {
        OWN_PROGRAM.get().map_or(&[], |own| &own.arguments)
    }
}
