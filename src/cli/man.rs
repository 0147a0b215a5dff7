//! The command `m3 man`: writes manual pages.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man;
use m3_support::files::write_atomically;
use m3_support::text::counted;

use crate::cli::common::{Failure, Printer, Result, print};

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
pub(super) fn run(args: &ManArgs, mut command: Command, printer: Printer) -> Result {
    // Building the command gives its subcommands their full names.
    command.build();
    let Some(folder) = &args.out else {
        return print(page(&command)?);
    };
    std::fs::create_dir_all(folder).map_err(Failure::at(folder))?;
    let mut commands = Vec::new();
    gather(&command, &mut commands);
    for command in &commands {
        let path = folder.join(Man::new((*command).clone()).get_filename());
        write_atomically(&path, &page(command)?).map_err(Failure::at(&path))?;
    }
    printer.note(&format!("{} in `{}`", counted(commands.len(), "page"), folder.display()));
    Ok(())
}

/// Collects the command and all subcommands that users may see.
fn gather<'c>(command: &'c Command, commands: &mut Vec<&'c Command>) {
    commands.push(command);
    let below = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
    below.for_each(|below| gather(below, commands));
}

fn page(command: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}
