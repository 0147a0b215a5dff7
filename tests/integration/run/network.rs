//! The connection to a model: closed ports, proxies, certificates, endless answers.

use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use assert_cmd::Command;
use m3_testkit::model_server::{ScriptedModel, ScriptedWire};
use m3_testkit::raw_http::{RawRequest, answer, head, listen, serve_on};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpSocket;

use super::{ids, journal, output_of, predictions, two_calls};
use crate::llm_client::completion;
use crate::support::{Folder, failure, m3_bare, root, run, stdout, text};

/// One task of our benchmark with a model at another address, and only the test's proxies and certificates.
fn asking(folder: &Folder, address: &str) -> Command {
    let mut command = m3_bare(folder.path());
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    let llm = format!("openai@{address}/v1:scripted");
    command.args(["run", "trajectories/tasks.json", "--llm", &llm, "--servers", "servers/local.json"]);
    command.args(["--server", "math", "--mode", "native", "--id", "00010000", "-o"]).arg(output_of(folder));
    command
}

/// Replies `done` and ends.
fn say_done(stream: &mut impl Write) {
    answer(stream, 200, &[], &completion("done").to_string());
}

/// Answers every request with `done`.
fn answer_done(stream: TcpStream) {
    let mut reader = BufReader::new(stream);
    if RawRequest::read(&mut reader).is_some() {
        say_done(reader.get_mut());
    }
}

/// A proxy that forwards everything to one server, and the first line of every connection.
fn proxy(server: SocketAddr) -> (String, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&seen);
    let address = listen(move |mut client| {
        let mut reader = BufReader::new(client.try_clone().unwrap());
        let head = head(&mut reader);
        let Some(first) = head.first() else { return };
        lines.lock().unwrap().push(first.clone());
        let mut upstream = TcpStream::connect(server).unwrap();
        if first.starts_with("CONNECT ") {
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
        } else {
            write!(upstream, "{}\r\n\r\n", head.join("\r\n")).unwrap();
        }
        let mut back = upstream.try_clone().unwrap();
        thread::spawn(move || std::io::copy(&mut back, &mut client));
        let _ = std::io::copy(&mut reader, &mut upstream);
    });
    (format!("http://{address}"), seen)
}

/// A model behind TLS, with the certificate of the tests.
fn https_model() -> SocketAddr {
    let folder = root().join("tests/integration/certificates");
    let certificate = CertificateDer::from_pem_file(folder.join("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![certificate], key).unwrap());
    listen(move |stream| {
        let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = BufReader::new(rustls::StreamOwned::new(connection, stream));
        if RawRequest::read(&mut stream).is_some() {
            let stream = stream.get_mut();
            say_done(stream);
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    })
}

/// The file of the authority that signed the certificate.
fn authority() -> PathBuf {
    root().join("tests/integration/certificates/authority.pem")
}

/// How the first task ended, and the reason.
fn finish(output: &Path) -> (String, String) {
    let prediction = &predictions(output)[0];
    let text = |key: &str| prediction[key].as_str().unwrap().to_owned();
    (text("finish"), text("final_reply"))
}

#[test]
fn a_model_that_cannot_be_reached_stops_the_run_and_the_next_one_goes_on() {
    let folder = Folder::new();
    let output = output_of(&folder);
    // Bound, so that no other process gets the port; the system refuses connections as long as nothing listens.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let closed = socket.local_addr().unwrap();
    let all_tasks = || {
        let mut command = asking(&folder, &format!("http://{closed}"));
        command.args(["--id", "00010001", "--id", "00010002", "--workers", "2", "--llm-tries", "2"]);
        command
    };
    let (code, said) = failure(&mut all_tasks());
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("scripted` gave no reply in 2 tries: "), "{said}");
    assert!(
        said.contains("hint: nothing is recorded") && said.contains("the same command continues"),
        "{said}"
    );
    assert_eq!(predictions(&output).len(), 0);
    assert_eq!(std::fs::read_dir(output.join("predictions")).unwrap().count(), 0);
    let retried = journal(&output).iter().filter(|line| line["event"] == "retried").count();
    assert!(retried >= 1, "{retried}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let entered = runtime.enter();
    let listener = socket.listen(64).unwrap().into_std().unwrap();
    drop(entered);
    listener.set_nonblocking(false).unwrap();
    serve_on(listener, answer_done);
    stdout(&mut all_tasks());
    assert_eq!(ids(&predictions(&output)), ["00010000", "00010001", "00010002"]);
    assert_eq!(finish(&output), ("answered".to_owned(), "done".to_owned()));
}

#[test]
fn proxies_of_the_environment_are_used_but_for_this_machine() {
    let folder = Folder::new();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, two_calls);
    let server = model.base_url().trim_start_matches("http://").trim_end_matches("/v1").parse().unwrap();
    let (proxy, lines) = proxy(server);
    // A name that never resolves (RFC 6761, section 6.4), so a direct connection would fail.
    stdout(asking(&folder, "http://model.invalid").env("HTTP_PROXY", &proxy));
    assert_eq!(model.problems(), Vec::<String>::new());
    assert_eq!(model.requests().len(), 2);
    let seen = std::mem::take(&mut *lines.lock().unwrap());
    assert!(!seen.is_empty());
    for line in seen {
        assert_eq!(line, "POST http://model.invalid/v1/chat/completions HTTP/1.1");
    }
    // Models on this machine and excepted addresses are not reached through the proxy.
    stdout(asking(&folder, &format!("http://{server}")).env("HTTP_PROXY", &proxy).env("ALL_PROXY", &proxy));
    assert_eq!(lines.lock().unwrap().len(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn https_goes_through_a_proxy_as_it_is() {
    let folder = Folder::new();
    let (proxy, lines) = proxy(https_model());
    // The proxy leads to the test's server, whose certificate is for `localhost` and not for this name.
    let mut command = asking(&folder, "https://model.invalid");
    let (code, said) = failure(command.env("HTTPS_PROXY", &proxy).env("SSL_CERT_FILE", authority()));
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("certificate") && said.contains("model.invalid"), "{said}");
    assert!(said.contains("hint: the certificate is for another name"), "{said}");
    assert!(!said.contains("SSL_CERT_FILE"), "{said}");
    assert_eq!(*lines.lock().unwrap(), ["CONNECT model.invalid:443 HTTP/1.1"]);
}

/// `rustls-native-certs`, which the client asks on Linux, takes the file in place of the system's.
#[cfg(target_os = "linux")]
#[test]
fn a_certificate_is_trusted_if_its_authority_is() {
    let folder = Folder::new();
    let address = format!("https://{}", https_model());
    let (code, said) = failure(&mut asking(&folder, &address));
    assert_eq!(code, 4, "{said}");
    // Tried only once, because a retry would not help.
    assert!(said.contains("scripted` gave no reply: ") && said.contains("UnknownIssuer"), "{said}");
    let hint = "hint: the certificate of the server, or of a proxy before it, is signed by nobody";
    assert!(said.contains(hint) && said.contains("`SSL_CERT_FILE`"), "{said}");
    let output = output_of(&folder);
    assert_eq!(predictions(&output).len(), 0);
    stdout(asking(&folder, &address).env("SSL_CERT_FILE", authority()));
    assert_eq!(finish(&output), ("answered".to_owned(), "done".to_owned()));
}

/// As in a small container: HTTP needs no certificates, HTTPS does and says so.
#[cfg(target_os = "linux")]
#[test]
fn a_machine_without_certificates_can_speak_http() {
    let folder = Folder::new();
    let none = folder.write("none.pem", "");
    let model = listen(answer_done);
    stdout(asking(&folder, &format!("http://{model}")).env("SSL_CERT_FILE", &none));
    assert_eq!(finish(&output_of(&folder)), ("answered".to_owned(), "done".to_owned()));
    let (code, said) = failure(asking(&folder, &format!("https://{model}")).env("SSL_CERT_FILE", &none));
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("No CA certificates"), "{said}");
}

/// At most 64 MiB of an answer are read, whether it announces its length or not.
#[test]
fn an_answer_that_is_too_large_is_refused_and_not_kept() {
    const MOST: usize = 64 << 20;
    for is_told in [true, false] {
        let folder = Folder::new();
        let sent = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&sent);
        let address = listen(move |stream| {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            if RawRequest::read(&mut reader).is_none() {
                return;
            }
            let length = if is_told { format!("content-length: {}\r\n", MOST + 1) } else { String::new() };
            let mut stream = &stream;
            let head = format!("HTTP/1.1 200 OK\r\n{length}connection: close\r\n\r\n");
            stream.write_all(head.as_bytes()).unwrap();
            let block = vec![b' '; 1 << 16];
            // The server sends until the client leaves, which happens long before this ends.
            while counted.load(Ordering::Relaxed) < 8 * MOST && stream.write_all(&block).is_ok() {
                counted.fetch_add(block.len(), Ordering::Relaxed);
            }
        });
        let (code, said) = failure(&mut asking(&folder, &format!("http://{address}")));
        // It concerns one task only: others may get shorter answers.
        assert_eq!(code, 3, "{said}");
        assert!(said.contains("gave no reply: the answer is larger than 67108864 bytes"), "{said}");
        let sent = sent.load(Ordering::Relaxed);
        // The buffers between the two add to it.
        let most = if is_told { 32 << 20 } else { MOST + (32 << 20) };
        assert!(sent <= most, "{sent} bytes");
        assert_eq!(predictions(&output_of(&folder))[0]["finish"], "error");
    }
}

/// An answer that is cut off does not count: it is requested again.
#[test]
fn a_connection_that_is_cut_is_tried_again() {
    let folder = Folder::new();
    let times = AtomicUsize::new(0);
    let address = listen(move |stream| {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        if RawRequest::read(&mut reader).is_some() && times.fetch_add(1, Ordering::Relaxed) > 0 {
            say_done(&mut &stream);
        }
    });
    let done = run(&mut asking(&folder, &format!("http://{address}")));
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    assert_eq!(predictions(&output_of(&folder))[0]["turns"][0]["tries"], 2);
}
