//! Shared helpers of the tests: running `m3`, the encoder, data, small trajectories, an encoder without a model.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use m3_embedding::{Embedding, Encoder, EncoderError, Identity};
use m3_encoder::{AssetOptions, Assets};
pub(crate) use m3_testkit::{agent, root, shared, skipped};
use serde_json::{Value, json};

/// The real encoder's files, fetched if needed. If they are not available, `None` and a line that says so; in CI this
/// is a failure.
pub(crate) fn encoder() -> Option<&'static Assets> {
    static ASSETS: OnceLock<Result<Assets, String>> = OnceLock::new();
    let assets = ASSETS.get_or_init(|| {
        let options = AssetOptions::from_env(None).map_err(|error| error.to_string())?;
        Assets::locate(&options, &mut |_| ()).map_err(|error| error.to_string())
    });
    match assets {
        Ok(assets) => Some(assets),
        Err(error) if std::env::var_os("CI").is_some() => panic!("the encoder is needed in CI: {error}"),
        Err(error) => skipped(&format!("the encoder is not here: {error}")),
    }
}

/// `m3` with the real encoder and a cache that all tests share, separate from the user's.
pub(crate) fn m3() -> Option<Command> {
    Some(m3_with_cache(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"), encoder()?))
}

/// `m3` with the real encoder and its own cache folder.
pub(crate) fn m3_with_cache(cache_dir: &Path, assets: &Assets) -> Command {
    let mut command = m3_bare(cache_dir);
    command.env("M3_ENCODER_DIR", &assets.encoder_dir).env("ORT_DYLIB_PATH", &assets.runtime_library);
    command
}

/// `m3` as a process, for tests that do more than wait for its end.
pub(crate) fn m3_process(cache_dir: &Path, assets: &Assets) -> std::process::Command {
    program_with_cache(assert_cmd::cargo::cargo_bin("m3"), cache_dir, assets)
}

/// Any program, with the environment that `m3` needs.
pub(crate) fn program_with_cache(
    program: impl AsRef<std::ffi::OsStr>,
    cache_dir: &Path,
    assets: &Assets,
) -> std::process::Command {
    let mut command = std::process::Command::new(program);
    command.env("M3_CACHE_DIR", cache_dir).env("M3_ENCODER_DIR", &assets.encoder_dir);
    command.env("ORT_DYLIB_PATH", &assets.runtime_library).current_dir(root());
    command
}

/// `m3` with an environment that only names a cache folder.
pub(crate) fn m3_bare(cache_dir: &Path) -> Command {
    let mut command = Command::cargo_bin("m3").unwrap();
    for name in
        ["M3_ENCODER_DIR", "ORT_DYLIB_PATH", "M3_PYTHON", "M3_CACHE_LIMIT", "NO_COLOR", "CLICOLOR_FORCE"]
    {
        command.env_remove(name);
    }
    command.env("M3_CACHE_DIR", cache_dir).current_dir(root());
    command
}

/// Whether users may mount file systems that only they see; some containers do not allow it.
#[cfg(target_os = "linux")]
pub(crate) fn can_mount() -> bool {
    let folder = Folder::new();
    let mount = "mount -t tmpfs -o size=4k tmpfs \"$0\"";
    let tried =
        std::process::Command::new("unshare").args(["-rm", "sh", "-c", mount]).arg(folder.path()).output();
    let is_possible = tried.is_ok_and(|tried| tried.status.success());
    is_possible || skipped::<()>("`unshare -rm` cannot mount a file system here").is_some()
}

/// A program for which this folder is read-only, even for root; see [`can_mount`].
#[cfg(target_os = "linux")]
pub(crate) fn read_only(folder: &Path, program: &Path) -> std::process::Command {
    let mount = "mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\" && exec \"$@\"";
    let mut command = std::process::Command::new("unshare");
    command.args(["-rm", "sh", "-c", mount]).arg(folder).arg(program).current_dir(root());
    command
}

/// Runs a command and returns its output; a command that hangs fails the test.
pub(crate) fn run(command: &mut Command) -> Output {
    command.timeout(Duration::from_mins(5)).output().unwrap()
}

/// Standard output of a run that should succeed.
pub(crate) fn stdout(command: &mut Command) -> String {
    let output = run(command);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The report of a run that should succeed.
pub(crate) fn report(command: &mut Command) -> Value {
    serde_json::from_str(&stdout(command.args(["--format", "json", "--quiet"]))).unwrap()
}

/// Copies the files of a folder into a new one.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Exit code and standard error of a run that should fail without panic.
pub(crate) fn failure(command: &mut Command) -> (i32, String) {
    let output = run(command);
    let (code, message) = (output.status.code().unwrap(), text(&output.stderr));
    assert_ne!(code, 0, "it should fail");
    assert_ne!(code, 101, "it should not panic: {message}");
    (code, message)
}

/// Checks an instance against `m3 schema NAME`, and that schema against the copy in `docs/schemas`.
pub(crate) fn follows_kept_schema(name: &str, instance: &Value) {
    follow_kept_schema(name, [instance]);
}

/// Checks several instances against `m3 schema NAME`, and that schema against the copy in `docs/schemas`.
pub(crate) fn follow_kept_schema<'v>(name: &str, instances: impl IntoIterator<Item = &'v Value>) {
    let printed = stdout(m3_bare(Path::new(env!("CARGO_TARGET_TMPDIR"))).args(["schema", name]));
    let printed: Value = serde_json::from_str(&printed).unwrap();
    let kept = std::fs::read(root().join(format!("docs/schemas/{name}.schema.json"))).unwrap_or_default();
    let kept: Value = serde_json::from_slice(&kept).unwrap_or_default();
    assert!(printed == kept, "`m3 schema {name} > docs/schemas/{name}.schema.json` keeps it");
    let validator = jsonschema::validator_for(&printed).unwrap();
    for instance in instances {
        let errors: Vec<String> = validator.iter_errors(instance).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?} in {instance}");
    }
}

/// The JSON of a file.
pub(crate) fn json_of(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Waits for something that has to come, however slow the machine is.
pub(crate) fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !is_there() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Bytes that should be UTF-8.
pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A call.
#[expect(clippy::needless_pass_by_value, reason = "arguments are written where the call is")]
pub(crate) fn call(tool: &str, arguments: Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

/// A trajectory of steps of calls.
pub(crate) fn trajectory(id: &str, steps: &[&[Value]]) -> Value {
    let steps: Vec<Value> =
        steps.iter().enumerate().map(|(index, calls)| json!({"step": index + 1, "calls": calls})).collect();
    json!({"id": id, "type": "test", "steps": steps})
}

/// A folder of files for one test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// The folder itself.
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file into it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Writes JSON into it.
    pub(crate) fn json(&self, name: &str, content: &Value) -> PathBuf {
        self.write(name, content.to_string())
    }
}

/// `m3` without an encoder, for tests that fail before the encoder is used.
pub(crate) fn no_encoder(folder: &Folder) -> Command {
    let mut command = m3_bare(folder.path());
    command.env("M3_ENCODER_DIR", "/nonexistent").env("ORT_DYLIB_PATH", "/nonexistent");
    command
}

/// An encoder for tests of everything else: it counts letters and digits. As for the real one, texts that differ only
/// in case look the same.
pub(crate) struct LetterCounts {
    identity: Identity,
}

impl LetterCounts {
    /// A new encoder.
    pub(crate) fn new() -> Self {
        let identity = Identity {
            name: "letter-counts".to_owned(),
            fingerprint: "sha256:0".to_owned(),
            dimensions: 36,
            max_tokens: 1000,
        };
        Self { identity }
    }
}

impl Encoder for LetterCounts {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn embed(&mut self, texts: &[&str], done: &mut dyn FnMut(usize)) -> Result<Vec<Embedding>, EncoderError> {
        done(texts.len());
        let counts = |text: &&str| {
            let mut vector = vec![0.0_f32; 36];
            for c in text.chars() {
                if let Some(digit) = c.to_digit(36) {
                    vector[digit as usize] += 1.0;
                }
            }
            vector
        };
        Ok(texts.iter().map(counts).collect())
    }
}

/// A command that runs its arguments on a terminal with this many columns, created by Python, which m3 needs anyway.
/// The given streams (`stdout`, `stderr`) go to the terminal; its content is the command's standard output.
#[cfg(unix)]
pub(crate) fn on_terminal(columns: u16, streams: &[&str]) -> std::process::Command {
    const TERMINAL: &str = "\
import fcntl, os, pty, struct, subprocess, sys, termios
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 50, int(sys.argv[1]), 0, 0))
streams = {stream: theirs for stream in sys.argv[2].split()}
child = subprocess.Popen(sys.argv[3:], stdin=subprocess.DEVNULL, **streams)
os.close(theirs)
while True:
    try:
        data = os.read(ours, 65536)
    except OSError:
        break
    if not data:
        break
    os.write(1, data)
sys.exit(child.wait())
";
    let mut command = std::process::Command::new("python3");
    command.args(["-c", TERMINAL, &columns.to_string(), &streams.join(" ")]);
    command
}

/// Python with some packages, installed below the target folder.
pub(crate) struct Python {
    packages: PathBuf,
}

impl Python {
    /// A command that sees the packages.
    pub(crate) fn command(&self) -> std::process::Command {
        let mut command = std::process::Command::new("python3");
        command.env("PYTHONPATH", &self.packages);
        command
    }
}

/// Python with the packages of a requirements file. If they are not available, `None` and a line that says so; in CI
/// this is a failure.
pub(crate) fn python_with(requirements: &str) -> Option<Python> {
    let name = requirements.replace(['/', '.'], "-");
    let packages = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python").join(name);
    let stamp = packages.join("installed");
    let wanted = std::fs::read_to_string(root().join(requirements)).unwrap();
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Some(Python { packages });
    }
    let output = std::process::Command::new("python3")
        .args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--only-binary=:all:",
            "--upgrade",
        ])
        .arg("--target")
        .arg(&packages)
        .arg("--requirement")
        .arg(root().join(requirements))
        .output();
    let reason = match output {
        Ok(output) if output.status.success() => {
            std::fs::write(stamp, wanted).unwrap();
            return Some(Python { packages });
        }
        Ok(output) => text(&output.stderr),
        Err(error) => error.to_string(),
    };
    assert!(std::env::var_os("CI").is_none(), "{requirements} is needed in CI: {reason}");
    skipped(&format!("{requirements} cannot be installed: {reason}"))
}
