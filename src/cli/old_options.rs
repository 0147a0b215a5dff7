//! Old names of options, from the version before, which are accepted with a note.

use std::ffi::OsString;

/// Commands, old names of options, and their names today. The next version drops the rows of this one.
const OLD_OPTIONS: &[(&[&str], &str, &str)] = &[
    (&["run", "judge", "record"], "--output", "--out"),
    (&["grade"], "--output", "--graded"),
    (&["grade"], "-o", "--graded"),
    (&["grade"], "--judges", "--llm"),
    (&["grade"], "--judge-key-from", "--llm-key-from"),
    (&["grade"], "--text-judges", "--no-images-for"),
    (&["fidelity"], "-o", "--model-out"),
    (&["score", "audit", "fidelity"], "--ask", "--llm"),
    (&["score", "audit", "fidelity"], "--ask-band", "--llm-band"),
    (&["score", "audit", "fidelity"], "--ask-at-most", "--llm-at-most"),
    (&["score", "audit", "fidelity"], "--ask-key-from", "--llm-key-from"),
    (&["score", "audit", "fidelity"], "--ask-record", "--record"),
    (&["outcomes"], "--llm-record", "--record"),
    (&["review"], "--with-open", "--with-undecided"),
];

/// Puts today's names into a command line, whose first argument is the program's name; returns it with a note for each
/// name that was replaced.
pub(super) fn renamed(arguments: impl IntoIterator<Item = OsString>) -> (Vec<OsString>, Vec<String>) {
    let mut notes = Vec::new();
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let Some(command) = command(&arguments) else { return (arguments, notes) };
    for argument in arguments.iter_mut().take_while(|argument| *argument != "--") {
        let Some((old, new, value)) = argument.to_str().and_then(|argument| find(command, argument)) else {
            continue;
        };
        let replacement = OsString::from(format!("{new}{value}"));
        let note =
            format!("`{old}` of `m3 {command}` is now `{new}`; the old name goes with the next version");
        if !notes.contains(&note) {
            notes.push(note);
        }
        *argument = replacement;
    }
    (arguments, notes)
}

/// The options of every command that have a value.
const WITH_VALUE: [&str; 3] = ["--cache-dir", "--max-unpacked", "--color"];

/// The command of a command line, if it has old options: the first argument that is neither an option nor its value.
fn command(arguments: &[OsString]) -> Option<&'static str> {
    let mut words = arguments.iter().skip(1).map(|argument| argument.to_str());
    let command = loop {
        let word = words.next()??;
        if WITH_VALUE.contains(&word) {
            words.next();
        } else if !word.starts_with('-') {
            break word;
        }
    };
    OLD_OPTIONS.iter().flat_map(|(commands, ..)| *commands).copied().find(|name| *name == command)
}

/// The old option that an argument names, its new name, and the rest of the argument: `=value` or nothing.
fn find(command: &str, argument: &str) -> Option<(&'static str, &'static str, String)> {
    OLD_OPTIONS.iter().filter(|(commands, ..)| commands.contains(&command)).find_map(|&(_, old, new)| {
        let rest = argument.strip_prefix(old)?;
        let value = match rest {
            "" => String::new(),
            _ if rest.starts_with('=') => rest.to_owned(),
            // A short option with its value: `-oFILE`.
            _ if old.len() == 2 => format!("={rest}"),
            _ => return None,
        };
        Some((old, new, value))
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    fn after(line: &str) -> (String, usize) {
        let (arguments, notes) = renamed(line.split(' ').map(OsString::from));
        let words: Vec<String> = arguments.into_iter().map(|word| word.into_string().unwrap()).collect();
        (words.join(" "), notes.len())
    }

    #[test]
    fn old_names_are_replaced_in_their_command_alone() {
        for (line, new, notes) in [
            ("m3 -q score a b --ask x --ask-record=y", "m3 -q score a b --llm x --record=y", 2),
            ("m3 grade a b --judges x --judges y -o z", "m3 grade a b --llm x --llm y --graded z", 2),
            ("m3 grade a -oz --output=z", "m3 grade a --graded=z --graded=z", 2),
            ("m3 run a -o z", "m3 run a -o z", 0),
            ("m3 run a --output z", "m3 run a --out z", 1),
            ("m3 run a --output-folder z", "m3 run a --output-folder z", 0),
            ("m3 import grade -o z", "m3 import grade -o z", 0),
            ("m3 --cache-dir grade score a b --ask x", "m3 --cache-dir grade score a b --llm x", 1),
            ("m3 compare a b --ask", "m3 compare a b --ask", 0),
            ("m3 score -- --ask", "m3 score -- --ask", 0),
        ] {
            assert_eq!(after(line), (new.to_owned(), notes), "{line}");
        }
    }

    /// A row whose new name no option has would break the command lines that it is for.
    #[test]
    fn every_new_name_is_an_option_and_no_old_one_is() {
        let program = Cli::command();
        for &(commands, old, new) in OLD_OPTIONS {
            for name in commands {
                let command = program.find_subcommand(name).unwrap();
                let has = |option: &str| {
                    command.get_arguments().any(|argument| {
                        argument.get_long().is_some_and(|long| option == format!("--{long}"))
                            || argument.get_short().is_some_and(|short| option == format!("-{short}"))
                    })
                };
                assert!(has(new), "`m3 {name}` has no `{new}`");
                assert!(!has(old), "`m3 {name}` has `{old}`");
            }
        }
    }
}
