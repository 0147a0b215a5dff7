//! Opens the page in the user's browser.

use std::io::{IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

use tempfile::NamedTempFile;

/// Opens an address in the browser, if a person is at a terminal. The address contains a token, and other users of
/// the machine can see the arguments of programs; so the browser opens a file that only this user can read and that
/// leads to the address. The caller must keep the file as long as the browser may need it. If no browser can be
/// opened, there is no message, because the address was printed.
pub(super) fn in_browser(address: &str) -> Option<NamedTempFile> {
    if !std::io::stderr().is_terminal() || !has_screen() {
        return None;
    }
    let mut file = tempfile::Builder::new().prefix("m3-review-").suffix(".html").tempfile().ok()?;
    let page = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\"><title>m3 review</title>\
         <a href=\"{address}\">m3 review</a>\n"
    );
    file.write_all(page.as_bytes()).and_then(|()| file.flush()).ok()?;
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(opener);
    command.arg(file.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    // The program ends by itself once it has told the browser; waiting only collects its exit code.
    std::thread::spawn(move || child.wait());
    Some(file)
}

/// Whether there is a screen on which a browser could be shown.
fn has_screen() -> bool {
    cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|at| !at.is_empty()))
}
