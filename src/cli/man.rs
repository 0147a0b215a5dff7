//! The command `m3 man`: writes manual pages.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::{Args, Command};
use clap_mangen::Man;
use m3_support::files::write_atomically;
use m3_support::text::counted;

use crate::cli::common::failure::Failure;
use crate::cli::common::printer::Printer;

/// Options of `m3 man`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ManArgs {
    /// Write a page for m3 and one for each command into this folder, instead of m3's own to standard output
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  m3 man | man -l -
  m3 man -o ~/.local/share/man/man1";

/// Writes manual pages of `command`.
pub(super) fn run(args: &ManArgs, mut command: Command, printer: Printer) -> Result<(), Failure> {
    // Building the command gives its subcommands their full names.
    command.build();
    let Some(folder) = &args.out else {
        let mut out = Printer::out();
        let written = page(&command).and_then(|page| out.write_all(&page)).and_then(|()| out.flush());
        return written.map_err(|cause| Failure::output("standard output", &cause));
    };
    let failed = |path: &Path, cause: &io::Error| Failure::output(&format!("`{}`", path.display()), cause);
    std::fs::create_dir_all(folder).map_err(|cause| failed(folder, &cause))?;
    let mut commands = Vec::new();
    gather(&command, &mut commands);
    for command in &commands {
        let path = folder.join(Man::new((*command).clone()).get_filename());
        let written = page(command).and_then(|page| write_atomically(&path, &page));
        written.map_err(|cause| failed(&path, &cause))?;
    }
    printer.note(&format!("{} in `{}`", counted(commands.len(), "page"), folder.display()));
    Ok(())
}

/// Collects the command and all subcommands that users may see.
fn gather<'c>(command: &'c Command, found: &mut Vec<&'c Command>) {
    found.push(command);
    let below = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
    below.for_each(|below| gather(below, found));
}

fn page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}
