//! Tests of missing records, of failed runs, and of settings (single- and multi-server).

use m3_trajectory::json::Json;
use m3_trajectory::{Call, Step, Trajectory};

use super::*;

fn call(tool: &str, member: Option<(&str, Json)>) -> Call {
    let extra = member.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Call { tool: tool.to_owned(), arguments: None, result: None, extra }
}

fn trajectory(calls: Vec<Call>, members: &[(&str, Json)]) -> Trajectory {
    let extra = members.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    Trajectory {
        id: "t".to_owned(),
        steps: vec![Step { calls, ..Step::default() }],
        extra,
        ..Trajectory::default()
    }
}

/// Replies of a judge who gives 10 everywhere, and the tools that were offered.
fn members() -> Vec<(&'static str, Json)> {
    let reply = Dimensions::NAMES.map(|name| (name.to_owned(), Json::Integer(10)));
    let tools = ["a/x", "b/y"].map(|name| Json::String(name.to_owned()));
    vec![
        ("judge_replies", Json::Array(vec![Json::Object(reply.to_vec())])),
        ("tools", Json::Array(tools.to_vec())),
    ]
}

fn scored(variant: Variant, trials: &[(&Trajectory, Option<&Trajectory>)]) -> (Vec<Values>, SuiteResult) {
    let mut scorer = (SUITE.open)(&crate::Setting { variant, catalog: None });
    let values = trials.iter().map(|(reference, found)| scorer.trial(&Trial::new(reference, *found, 1)));
    (values.collect(), scorer.finish())
}

fn done(tool: &str, success: bool) -> Call {
    call(tool, Some(("success", Json::Bool(success))))
}

#[test]
fn success_rests_on_calls_of_which_something_is_recorded() {
    let calls = vec![done("a/x", true), done("a/x", false), call("a/x", None), call("b/y", None)];
    let prediction = trajectory(calls, &members());
    let silent = trajectory(vec![call("a/x", None)], &members());
    let trials = [(&prediction, Some(&prediction)), (&silent, Some(&silent))];
    let (paper, result) = scored(Variant::Paper, &trials);
    assert_eq!(paper[0].get("execution_success"), Some(0.5));
    assert_eq!(paper[0].get("valid_call_failure_rate"), Some(0.5));
    // Names and schemas are all right, and the judge gives full marks.
    assert_eq!(paper[0].get("overall"), Some((2.5 / 3.0 + 3.0) / 4.0));
    assert_eq!((paper[1].get("execution_success"), paper[1].get("overall")), (None, None));
    assert!(
        result.notes.iter().any(|note| note.ends_with("left out of execution_success: 3")),
        "{:?}",
        result.notes
    );
    let (published, _) = scored(Variant::Published, &trials);
    assert_eq!(published[0].get("execution_success"), Some(0.25));
    assert_eq!(published[1].get("execution_success"), Some(0.0));
}

/// A schema that would take gigabytes to prepare says nothing of its calls, and a name is right all the same.
#[test]
fn calls_that_cannot_be_checked_are_in_no_rate_of_schemas() {
    let patterns: Vec<String> = (0..490).map(|at| format!("\"^[a-z]{{20000}}{at}$\": {{}}")).collect();
    let tool = |name: &str, schema: &str| format!(r#"{{"name": "{name}", "inputSchema": {schema}}}"#);
    let unknown = tool("y", &format!("{{\"patternProperties\": {{{}}}}}", patterns.join(",")));
    let known = tool("x", r#"{"required": ["q"]}"#);
    let text = format!(r#"{{"a": {{"tools": [{known}]}}, "b": {{"tools": [{unknown}]}}}}"#);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    let catalog = Catalog::open(file.path()).unwrap();
    let rates = |calls: Vec<Call>| {
        let run = trajectory(calls, &members());
        let mut scorer = (SUITE.open)(&crate::Setting { variant: Variant::Paper, catalog: Some(&catalog) });
        let values = scorer.trial(&Trial::new(&run, Some(&run), 1));
        ["name_validity", "schema_compliance"].map(|name| values.get(name))
    };
    assert_eq!(rates(vec![call("b/y", None)]), [Some(1.0), None]);
    assert_eq!(rates(vec![call("a/x", None), call("b/y", None)]), [Some(1.0), Some(0.0)]);
}

#[test]
fn runs_that_ended_in_an_error_weigh_nothing_or_are_left_out() {
    let right = trajectory(vec![done("a/x", true)], &members());
    let with = |finish: &str| {
        let mut failed = right.clone();
        failed.extra.push(("finish".to_owned(), Json::String(finish.to_owned())));
        failed
    };
    let (failed, used_up) = (with("error"), with("max_steps"));
    let trials = [(&right, Some(&failed)), (&right, Some(&used_up)), (&right, None)];
    let (paper, result) = scored(Variant::Paper, &trials);
    let overall = |values: &[Values]| values.iter().map(|values| values.get("overall")).collect::<Vec<_>>();
    assert_eq!(overall(&paper), [Some(0.0), Some(1.0), Some(0.0)]);
    assert_eq!(result.aggregate.get("overall"), Some(1.0 / 3.0));
    assert!(
        result.notes.contains(&"runs that ended in an error, overall 0: 1".to_owned()),
        "{:?}",
        result.notes
    );
    let (published, result) = scored(Variant::Published, &trials);
    assert_eq!(overall(&published), [None, Some(1.0), None]);
    assert_eq!((result.aggregate.get("overall"), published[0].get("calls")), (Some(1.0), None));
}

/// A prediction as `m3 run` writes it, with a hash of the tools instead of their names, and with the time of the run.
#[test]
fn a_hash_of_tools_names_none() {
    let run = Json::Object(vec![("milliseconds".to_owned(), Json::Integer(1500))]);
    let prediction =
        trajectory(vec![done("a/x", true)], &[("tools", Json::String("sha256:0".to_owned())), ("run", run)]);
    let (values, _) = scored(Variant::Paper, &[(&prediction, Some(&prediction))]);
    assert_eq!(values[0].get("name_validity"), None);
    assert_eq!(values[0].get("seconds"), Some(1.5));
}

/// Two tasks have one server and 1 call each, one task has two servers and 4 calls. The mean number of calls is 2 over
/// the tasks, and 2.5 over the two settings.
#[test]
fn table_6_is_the_plain_mean_of_settings() {
    let single = trajectory(vec![call("a/x", None)], &[]);
    let multi = trajectory(["a/x", "b/y", "a/x", "b/y"].map(|tool| call(tool, None)).to_vec(), &[]);
    let trials = [(&single, Some(&single)), (&single, Some(&single)), (&multi, Some(&multi))];
    let (_, result) = scored(Variant::Paper, &trials);
    assert_eq!(result.aggregate.get("calls"), Some(2.0));
    assert_eq!(result.aggregate.get("calls_mean_of_settings"), Some(2.5));
    let groups: Vec<_> =
        result.groups.iter().map(|group| (group.by, group.name.as_str(), group.tasks)).collect();
    assert_eq!(
        groups,
        [("servers", "1", 2), ("servers", "2", 1), ("setting", "multi", 1), ("setting", "single", 2)]
    );
    let (_, one) = scored(Variant::Paper, &trials[..2]);
    assert_eq!(one.aggregate.get("calls_mean_of_settings"), None);
}
