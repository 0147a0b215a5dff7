use std::path::{Path, PathBuf};
use std::time::Duration;

use m3_trajectory::WholeFile;
use m3_trajectory::json;

use super::*;

fn read(text: &str) -> Result<(HostConfig, Vec<ConfigProblem>), ConfigError> {
    let (value, oddities) = json::parse(text.as_bytes()).unwrap();
    let file = WholeFile { name: "hosts.json".to_owned(), digest: String::new(), value, oddities };
    let lookup = |name: &str| match name {
        "KEY" => Some("from-the-environment-1a2b3c4d5e".to_owned()),
        "HOME" => Some("/folder/of-the-user".to_owned()),
        _ => None,
    };
    HostConfig::from_file(&file, PathBuf::from("/folder"), &lookup)
}

/// The only server of a file that causes no warnings.
fn server(entry: &str) -> ServerConfig {
    let (mut config, warnings) = read(&format!(r#"{{"mcpServers": {{"s": {entry}}}}}"#)).unwrap();
    assert_eq!(warnings, [], "{entry}");
    config.servers.remove(0)
}

fn problems(text: &str) -> Vec<String> {
    match read(text).unwrap_err() {
        ConfigError::Invalid { problems } => problems.iter().map(ToString::to_string).collect(),
        error @ ConfigError::File(_) => panic!("{error}"),
    }
}

#[test]
fn a_stdio_server_has_everything_that_its_entry_says() {
    let config = server(
        r#"{"type": "stdio", "command": "npx", "args": ["-y", "pkg", "${HOME}/x", 5], "cwd": "sub/${UNSET:-dir}",
        "env": {"API_KEY": "${KEY}", "LANG": "en", "PORT": 80}, "stateless": true, "max_concurrent": 4,
        "timeouts": {"start": 90, "idle": 1.5, "total": 20}, "restarts": 0,
        "allowed_tools": ["a", "b*"], "deny": "bc", "note": "said", "autoApprove": []}"#,
    );
    let Transport::Stdio { command, args, env, cwd } = &config.transport else { panic!("{config:?}") };
    assert_eq!((command.as_str(), args.join(" ").as_str()), ("npx", "-y pkg /folder/of-the-user/x 5"));
    assert_eq!(env["API_KEY"], "from-the-environment-1a2b3c4d5e");
    assert_eq!((env["LANG"].as_str(), env["PORT"].as_str()), ("en", "80"));
    assert_eq!(cwd.as_deref(), Some(Path::new("/folder/sub/dir")));
    assert!(config.is_stateless && !config.is_disabled);
    assert_eq!(config.max_concurrent, Some(4));
    let seconds = Duration::from_secs_f64;
    assert_eq!(config.timeouts, Timeouts { start: seconds(90.0), idle: seconds(1.5), total: seconds(20.0) });
    assert_eq!(config.restarts, 0);
    assert_eq!(config.tools.allow, Some(vec!["a".to_owned(), "b*".to_owned()]));
    assert_eq!(config.tools.deny, ["bc"]);
    assert_eq!(config.secrets, ["from-the-environment-1a2b3c4d5e"]);
}

#[test]
fn an_http_server_has_headers_and_their_secrets() {
    for kind in ["", r#""type": "http","#, r#""type": "streamable-http","#, r#""type": "streamableHttp","#] {
        let config = server(&format!(
            r#"{{{kind} "url": "https://h/mcp", "headers": {{"Authorization": "Bearer ${{KEY}}", "X-N": 1}}}}"#
        ));
        let Transport::Http { url, headers } = &config.transport else { panic!("{config:?}") };
        assert_eq!((url.as_str(), headers["X-N"].as_str()), ("https://h/mcp", "1"));
        let secrets = ["Bearer from-the-environment-1a2b3c4d5e", "from-the-environment-1a2b3c4d5e"];
        assert_eq!(config.secrets, secrets);
    }
}

#[test]
fn every_shape_of_file_is_read() {
    let entry = r#"{"command": "x"}"#;
    for text in [
        format!(r#"{{"mcpServers": {{"a": {entry}, "b": {entry}}}}}"#),
        format!(r#"{{"servers": {{"a": {entry}, "b": {entry}}}, "inputs": []}}"#),
        format!(r#"{{"mcp": {{"servers": {{"a": {entry}, "b": {entry}}}}}}}"#),
        r#"{"servers": [{"name": "a", "command": "x"}, {"name": "b", "command": "x"}]}"#.to_owned(),
        format!(r#"{{"mcpServers": {{"a": {entry}}}, "servers": {{"b": {entry}}}}}"#),
    ] {
        let (config, warnings) = read(&text).unwrap();
        let names: Vec<&str> = config.servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!((names, warnings), (vec!["a", "b"], vec![]), "{text}");
    }
    let (config, _) = read(r#"{"simulated": {"catalog": "tools.json"}}"#).unwrap();
    assert!(config.servers.is_empty() && config.simulated.unwrap()["catalog"] == "tools.json");
}

#[test]
fn servers_are_disabled_by_either_key() {
    let is_disabled = |keys: &str| server(&format!(r#"{{"command": "x"{keys}}}"#)).is_disabled;
    assert!(!is_disabled(""));
    assert!(is_disabled(r#", "disabled": true"#));
    assert!(is_disabled(r#", "enabled": false"#));
    assert!(!is_disabled(r#", "disabled": false, "enabled": true"#));
    let both = r#"{"servers": {"s": {"command": "x", "disabled": true, "enabled": true}}}"#;
    assert!(problems(both)[0].contains("contradict"));
}

#[test]
fn what_cannot_be_reached_is_said_of_its_server_only() {
    let text = r#"{"mcpServers": {"a": {"command": "x", "env": {"API_KEY": "${TMDB_API_KEY}"}},
        "b": {"url": "https://h/sse", "type": "sse"}, "c": {"url": "${ADDRESS}"},
        "d": {"command": "x", "args": ["${input:token}"]}, "e": {"command": "x"}}}"#;
    let (config, warnings) = read(text).unwrap();
    assert_eq!(warnings, []);
    let reasons: Vec<Option<&str>> = config
        .servers
        .iter()
        .map(|server| match &server.transport {
            Transport::Unusable { reason } => Some(reason.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(reasons[0], Some("key `env.API_KEY`: the variable `TMDB_API_KEY` is not set"));
    assert!(reasons[1].unwrap().contains("`sse` is not supported"));
    assert_eq!(reasons[2], Some("key `url`: the variable `ADDRESS` is not set"));
    assert!(reasons[3].unwrap().contains("asks the user"));
    assert_eq!(reasons[4], None);
}

#[test]
fn everything_wrong_is_named_with_file_server_and_key() {
    let reported = problems(
        r#"{"mcpServers": {
            "a/b": {"command": "x"}, "": {"command": "x"}, "c\u0007": {"command": "x"},
            "none": {}, "both": {"command": "x", "url": "http://h"}, "word": "x",
            "kind": {"command": "x", "type": "pigeon"}, "lost": {"command": "x", "type": "http"},
            "env": {"command": "x", "env": {"A": ["b"]}}, "args": {"command": "x", "args": {}},
            "zero": {"command": "x", "max_concurrent": 0}, "time": {"command": "x", "timeouts": {"idle": -1}},
            "year": {"command": "x", "timeouts": {"total": 31536000}}, "empty": {"command": " "},
            "ftp": {"url": "ftp://h"}, "break": {"url": "http://h", "headers": {"A": "b\r\nC: d"}},
            "flag": {"command": "x", "disabled": "no"}, "twice": {"command": "x"}, "twice": {"command": "y"}
        }}"#,
    );
    for expected in [
        "server `a/b`: its name has a slash",
        "server ``: its name is empty",
        "server `c\\u{7}`: its name has control characters",
        "server `none`: key `command`: neither `command` nor `url` is here",
        "server `both`: key `type`: `command` and `url` are both here",
        "server `word`: expected an object, found a string",
        "server `kind`: key `type`: `pigeon` is no transport",
        "server `lost`: key `url`: missing; the transport is `http`",
        "server `env`: key `env.A`: expected a string, found an array",
        "server `args`: key `args`: expected a list of strings, found an object",
        "server `zero`: key `max_concurrent`: expected a whole number from 1 on",
        "server `time`: key `timeouts.idle`: expected a number above 0",
        "server `year`: key `timeouts.total`: expected",
        "server `empty`: key `command`: it is empty",
        "server `ftp`: key `url`: expected an address",
        "server `break`: key `headers.A`: no name and value of a header",
        "server `flag`: key `disabled`: expected true or false, found a string",
        "server `twice`: the same key twice",
    ] {
        let is_said =
            reported.iter().filter(|line| line.starts_with("`hosts.json`: ") && line.contains(expected));
        assert_eq!(is_said.count(), 1, "{expected} in {reported:#?}");
    }
    assert_eq!(reported.len(), 18, "{reported:#?}");
    assert!(problems("[]")[0].contains("expected an object, found an array"));
    assert!(problems("{}")[0].contains("none of `mcpServers`"));
    assert!(
        problems(r#"{"servers": [{"command": "x"}]}"#)[0]
            .contains("key `/servers/0`: a server without a name")
    );
}

#[test]
fn unknown_keys_are_warned_of_with_the_likely_one() {
    let text = r#"{"mcpServer": 1, "servers": {"s": {"command": "x y", "arg": [], "header": {}, "_why": 1,
        "maxConcurrent": 2, "timeout": 30000, "zzz": 1}}}"#;
    let (config, warnings) = read(text).unwrap();
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    for expected in [
        "`hosts.json`: key `mcpServer`: not a key that m3 knows; did you mean `mcpServers`?",
        "key `arg`: not a key that m3 knows; did you mean `args`?",
        "key `header`: not a key that m3 knows; did you mean `headers`?",
        "key `zzz`: not a key that m3 knows; it is left aside",
        "key `timeout`: read as milliseconds, as programs differ; `timeouts: {\"total\": 30}` is always seconds",
        "key `command`: it has spaces",
    ] {
        assert!(warnings.iter().any(|warning| warning.contains(expected)), "{expected} in {warnings:#?}");
    }
    assert_eq!(warnings.len(), 6, "{warnings:#?}");
    assert_eq!(config.servers[0].max_concurrent, Some(2));
    assert_eq!(config.servers[0].timeouts.idle, Duration::from_secs(30));
}

#[test]
fn times_of_other_programs_are_understood() {
    let times = |keys: &str| server(&format!(r#"{{"command": "x", {keys}}}"#)).timeouts;
    let codex = times(r#""startup_timeout_sec": 20, "tool_timeout_sec": 600"#);
    assert_eq!((codex.start.as_secs(), codex.idle.as_secs(), codex.total.as_secs()), (20, 600, 600));
    let idle = times(r#""timeouts": {"idle": 1000}"#);
    assert_eq!((idle.idle.as_secs(), idle.total.as_secs()), (1000, 1000), "the whole is no shorter");
    assert_eq!(times(r#""timeouts": {}"#), Timeouts::default());
}

#[test]
fn relative_paths_of_existing_files_become_absolute() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("servers")).unwrap();
    std::fs::write(folder.path().join("servers/a.py"), "").unwrap();
    let text =
        r#"{"servers": {"s": {"command": "python", "args": ["servers/a.py", "servers/b.py", "@a/b"]}}}"#;
    let path = folder.path().join("c.json");
    std::fs::write(&path, text).unwrap();
    let (config, _) = HostConfig::open(&path).unwrap();
    let Transport::Stdio { args, .. } = &config.servers[0].transport else { panic!("{config:?}") };
    assert_eq!(args[0], folder.path().join("servers/a.py").display().to_string());
    assert_eq!(args[1..], ["servers/b.py", "@a/b"]);
}

#[test]
fn syntax_errors_have_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.json");
    std::fs::write(&path, "{ // servers\n  \"mcpServers\": {x}\n}").unwrap();
    let error = HostConfig::open(&path).unwrap_err().to_string();
    assert!(error.contains("c.json:2:18"), "{error}");
}

#[test]
fn variables_of_a_file_are_secret_and_give_way_to_those_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join(".env"),
        "# keys\nTOKEN_OF_MINE='some words'\nDEBUG=true\nexport REGION=eu\n",
    )
    .unwrap();
    let path = folder.path().join("mcp.json");
    let text = r#"{"mcpServers": { // an editor's
        "a": {"command": "x", "envFile": "${workspaceFolder}/.env", "env": {"REGION": "us"}},
        "b": {"command": "x", "envFile": "missing.env"},
    }}"#;
    std::fs::write(&path, text).unwrap();
    let (config, warnings) = HostConfig::open(&path).unwrap();
    assert_eq!(warnings, []);
    let Transport::Stdio { env, .. } = &config.servers[0].transport else { panic!("{config:?}") };
    let expected = [("DEBUG", "true"), ("REGION", "us"), ("TOKEN_OF_MINE", "some words")];
    let expected: Vec<_> = expected.iter().map(|(name, value)| (*name, *value)).collect();
    let env: Vec<_> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(env, expected);
    assert_eq!(config.servers[0].secrets, ["some words"]);
    let Transport::Unusable { reason } = &config.servers[1].transport else { panic!("{config:?}") };
    assert!(reason.contains("envFile") && reason.contains("missing.env"), "{reason}");
}
