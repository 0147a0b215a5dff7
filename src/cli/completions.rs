//! The command `m3 completions`: prints the script that completes m3's command line in a shell.

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use crate::cli::common::{Result, print};

/// Options of `m3 completions`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompletionsArgs {
    /// The shell that reads them
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  m3 completions bash > ~/.local/share/bash-completion/completions/m3
  m3 completions zsh > ~/.zfunc/_m3          (with ~/.zfunc in fpath)
  m3 completions fish > ~/.config/fish/completions/m3.fish";

/// Prints the script that completes the command line `command` in a shell.
pub(super) fn run(args: &CompletionsArgs, command: &Command) -> Result {
    let mut command = without_hidden(command);
    // The script goes to memory first, because the generator panics if it cannot write.
    let mut script = Vec::new();
    generate(args.shell, &mut command, "m3", &mut script);
    print(script)
}

/// The command without its hidden subcommands, which the generator would offer.
fn without_hidden(command: &Command) -> Command {
    let shown = command.get_subcommands().filter(|below| !below.is_hide_set()).cloned();
    Command::new("m3").args(command.get_arguments().cloned()).subcommands(shown)
}
