//! Reports for people as wide as was asked for, or as the terminal is.

use unicode_width::UnicodeWidthStr;

use crate::leaderboard::own_results;
use crate::support::{Folder, m3, m3_bare, stdout};

/// The widest line; a signature is copied as one word.
fn widest(text: &str) -> usize {
    text.lines().filter(|line| !line.starts_with("m3|")).map(UnicodeWidthStr::width).max().unwrap()
}

#[test]
fn reports_use_the_width_that_is_asked_for() {
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    let files = ["trajectories/predictions-poor.json", "trajectories/references.json"];
    let printed = |command: &str, width: &[&str]| {
        let mut m3 = if ["score", "audit"].contains(&command) {
            let mut m3 = m3().unwrap();
            m3.args([command, "-q"]).args(files);
            m3
        } else {
            let mut m3 = m3_bare(folder.path());
            m3.arg(command).args(&results[..2]);
            m3
        };
        stdout(m3.args(width))
    };
    for command in ["score", "audit", "compare", "leaderboard"] {
        let (narrow, wide) = (printed(command, &[]), printed(command, &["--width", "120"]));
        assert!(widest(&narrow) <= 80, "{narrow}");
        assert!((81..=120).contains(&widest(&wide)), "{command}: {}\n{wide}", widest(&wide));
        assert_eq!(printed(command, &["--width", "80"]), narrow);
    }
}

/// Between 80 and 140 columns a terminal decides.
#[cfg(unix)]
#[test]
fn reports_use_the_width_of_the_terminal() {
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    let width = |columns: u16| {
        let mut command = assert_cmd::Command::from_std(crate::support::on_terminal(columns, &["stdout"]));
        command
            .arg(assert_cmd::cargo::cargo_bin("m3"))
            .arg("compare")
            .args(&results[..2])
            .env("NO_COLOR", "1");
        widest(&stdout(&mut command))
    };
    assert!(width(40) <= 80 && (81..=120).contains(&width(120)) && (81..=140).contains(&width(1_000)));
}
