//! What makes the command at home in a shell: completions and manual pages.

use std::process::{Command, Stdio};

use crate::support::{Folder, m3_bare, skipped, stdout, text};

fn completions(folder: &Folder, shell: &str) -> std::path::PathBuf {
    let script = stdout(m3_bare(folder.path()).args(["completions", shell]));
    folder.write(&format!("m3.{shell}"), script)
}

/// Whether a program is here.
fn is_here(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

#[test]
fn bash_completes_commands_options_and_choices() {
    let folder = Folder::new();
    let script = completions(&folder, "bash");
    assert!(Command::new("bash").arg("-n").arg(&script).status().unwrap().success());
    let complete = |words: &[&str]| {
        let last = words.len() - 1;
        let code = format!(
            "source \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD={last}; COMP_LINE=\"$*\"; COMP_POINT=${{#COMP_LINE}}; \
             _m3 m3 \"${{COMP_WORDS[{last}]}}\" \"${{COMP_WORDS[{}]}}\"; echo \"${{COMPREPLY[@]}}\"",
            last - 1
        );
        let output =
            Command::new("bash").args(["--norc", "-c", &code]).arg(&script).args(words).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).trim().to_owned()
    };
    assert_eq!(complete(&["m3", "sc"]), "score schema");
    assert_eq!(complete(&["m3", "sco"]), "score");
    assert_eq!(complete(&["m3", "score", "--fail"]), "--fail-under");
    assert_eq!(complete(&["m3", "score", "--format", "sa"]), "sarif");
    // What users should not call is not offered.
    assert_eq!(complete(&["m3", "guard"]), "");
}

#[test]
fn every_shell_has_its_completions() {
    let folder = Folder::new();
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        let script = completions(&folder, shell);
        let content = std::fs::read_to_string(&script).unwrap();
        assert!(content.contains("compare-traces") && content.contains("completions"), "{shell}");
        match shell {
            "zsh" | "fish" if is_here(shell) => {
                assert!(Command::new(shell).arg("-n").arg(&script).status().unwrap().success(), "{shell}");
            }
            _ => {
                skipped::<()>(&format!(
                    "{shell} is not here to read its completions, or cannot only read them"
                ));
            }
        }
    }
}

/// The parts that `man` looks for (man-pages(7)): the title line, NAME, SYNOPSIS.
#[test]
fn there_is_a_manual_page_for_every_command() {
    let folder = Folder::new();
    let one = stdout(m3_bare(folder.path()).arg("man"));
    let pages = folder.path().join("man1");
    stdout(m3_bare(folder.path()).args(["man", "-q", "-o"]).arg(&pages));
    let mut names: Vec<String> = std::fs::read_dir(&pages)
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in ["m3.1", "m3-score.1", "m3-serve-simulated.1", "m3-completions.1"] {
        assert!(names.contains(&name.to_owned()), "{name} of {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("guard") || name.contains("help")), "{names:?}");
    assert_eq!(std::fs::read_to_string(pages.join("m3.1")).unwrap(), one);
    for name in &names {
        let page = std::fs::read_to_string(pages.join(name)).unwrap();
        let title = format!(".TH {} 1 ", name.trim_end_matches(".1"));
        assert!(page.contains(&title), "{name} has no {title}: {page}");
        assert!(page.contains(".SH NAME\n") && page.contains(".SH SYNOPSIS\n"), "{name}");
    }
    if !is_here("man") || !is_here("groff") {
        skipped::<()>("`man` and `groff` are not here to show the pages");
        return;
    }
    for name in &names {
        let page = pages.join(name);
        let mut man = Command::new("man");
        man.args(["--warnings", "-P", "cat", "-l"]).arg(&page).env("MANWIDTH", "80").env("LC_ALL", "C.UTF-8");
        let shown = man.output().unwrap();
        assert!(shown.status.success() && shown.stderr.is_empty(), "{name}: {}", text(&shown.stderr));
        assert!(text(&shown.stdout).contains("SYNOPSIS"), "{name}");
    }
}
