//! Serves a page to the person who started m3, and opens it in their browser.

use std::io::{IsTerminal as _, Write as _};
use std::process::{Command, Stdio};

use m3_web::{Handler, PageServer};
use tempfile::NamedTempFile;

use crate::cli::common::failure::{Failure, Result};
use crate::cli::common::hosting::{asked_to_end, single_thread_runtime};
use crate::cli::common::output::print;
use crate::cli::common::printer::Printer;

/// Serves a page until the user ends it: at `port` (0 takes a free one), and opens it in a browser if `opens`. The
/// `advice` is printed after the address.
pub(crate) fn serve_page(
    desk: impl Handler,
    (port, opens, advice): (u16, bool, &str),
    printer: Printer,
) -> Result {
    let runtime = single_thread_runtime()?;
    let served = runtime.block_on(async {
        let server = PageServer::start(desk, port).await.map_err(Failure::unavailable)?;
        let address = server.address();
        print(format!("{address}\n"))?;
        printer.note(advice);
        // The file is kept until the end, because a browser may open it late.
        let _shown = opens.then(|| in_browser(&address)).flatten();
        asked_to_end().await;
        server.stop().await;
        Ok(())
    });
    runtime.shutdown_background();
    served
}

/// Opens an address in the browser, if a person is at a terminal. The address contains a token, and other users of
/// the machine can see the arguments of programs; so the browser opens a file that only this user can read and that
/// leads to the address. The caller must keep the file as long as the browser may need it. If no browser can be
/// opened, there is no message, because the address was printed.
fn in_browser(address: &str) -> Option<NamedTempFile> {
    if !std::io::stderr().is_terminal() || !has_screen() {
        return None;
    }
    let mut file = tempfile::Builder::new().prefix("m3-page-").suffix(".html").tempfile().ok()?;
    let page = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\"><title>m3</title>\
         <a href=\"{address}\">m3</a>\n"
    );
    file.write_all(page.as_bytes()).and_then(|()| file.flush()).ok()?;
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(opener);
    command.arg(file.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    // The program ends by itself after it has called the browser; waiting only collects its exit code.
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
