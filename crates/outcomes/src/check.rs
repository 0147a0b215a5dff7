//! Decides the outcome of each call of a trajectory: first by facts that are certain before the tool is called, then by
//! its answer.

use std::path::Path;

use m3_mcp::arguments::ArgumentProblem;
use m3_support::text::{on_one_line, shortened};
use m3_trajectory::json::Keys;
use m3_trajectory::{Call, Trajectory};
use serde_json::{Map, Value};

use super::answer::Answer;
use super::format::{self, Arguments};
use super::known::{ArgumentFit, KnownTools};
use super::outcome::{NotJudged, Outcome, Rule, Verdict};
use super::rules;

/// The longest evidence that is kept for a call, in columns.
const EVIDENCE: usize = 200;

/// The outcome of a call, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Classification {
    /// The rule that decided.
    pub rule: &'static Rule,
    /// The text in the call or the answer that the rule applies to, with hidden characters shown, shortened, perhaps
    /// empty.
    pub evidence: String,
    /// The problems of the arguments, by the schema.
    pub problems: Vec<ArgumentProblem>,
    /// Whether the tool is known; `None` if this could not be decided.
    pub is_known_tool: Option<bool>,
    /// Whether the schema accepts the arguments; `None` for an unknown tool, and if they were not checked.
    pub fits_schema: Option<bool>,
    /// Whether an answer was used.
    pub has_answer: bool,
}

/// The place of a call in its trajectory, counted from 0. Entries that are not calls are counted too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The step.
    pub step: usize,
    /// The call within the step.
    pub call: usize,
    /// The call within the trajectory.
    pub index: usize,
}

/// A call with its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassifiedCall {
    /// The place of the call; `None` for a call inside the final reply.
    pub place: Option<Place>,
    /// The tool's name as the model wrote it; `None` without one.
    pub tool: Option<String>,
    /// The outcome of the call, with the rule that decided it.
    pub classification: Classification,
}

/// The check of a call before the tool is called.
#[derive(Debug, Clone, PartialEq)]
pub struct Precheck {
    /// The outcome, if no answer can change it.
    pub decided: Option<Classification>,
    /// The arguments to send, if a request is possible and the tool may exist.
    pub arguments: Option<Map<String, Value>>,
    is_known_tool: Option<bool>,
    /// Whether the arguments were checked.
    is_checked: bool,
}

/// The result of calling a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// An answer.
    Answer(Answer),
    /// There was no answer, for this reason.
    NoAnswer(NotJudged, String),
    /// The tool was not called.
    NotExecuted,
}

/// Decides outcomes of calls with a set of known tools.
#[derive(Debug, Clone, Copy)]
pub struct CallChecker<'a> {
    tools: &'a KnownTools,
}

impl<'a> CallChecker<'a> {
    /// A checker with these tools.
    #[must_use]
    pub fn new(tools: &'a KnownTools) -> Self {
        Self { tools }
    }

    /// Checks format, name and arguments, in this order.
    #[must_use]
    pub fn check(&self, call: &Call) -> Precheck {
        self.check_by(call, |arguments| self.tools.fit(&call.tool, arguments))
    }

    /// Checks format and name alone. If a check of the arguments is to blame, its tool gets a note with the reason.
    #[must_use]
    pub fn check_without_arguments(&self, call: &Call, reason: Option<&str>) -> Precheck {
        if let Some(reason) = reason {
            self.tools.note_unchecked(&call.tool, reason);
        }
        let is_known = self.tools.contains(&call.tool);
        self.check_by(call, |_| if is_known { ArgumentFit::Unchecked } else { ArgumentFit::UnknownTool })
    }

    /// Checks format and name, and decides by what `fit` says of the arguments.
    fn check_by(self, call: &Call, fit: impl FnOnce(&Map<String, Value>) -> ArgumentFit) -> Precheck {
        let has_read = self.tools.has_read_resource(call);
        let is_known = has_read || self.tools.contains(&call.tool);
        let is_known_tool = (is_known || !self.tools.is_silent(&call.tool)).then_some(is_known);
        let fits = |fits: bool| is_known.then_some(fits);
        let decided = |rule: &'static Rule, evidence: &str, problems: Vec<ArgumentProblem>| Classification {
            rule,
            evidence: seen_as(evidence),
            problems,
            is_known_tool,
            fits_schema: fits(false),
            has_answer: false,
        };
        let illegal = |rule, evidence: &str| Precheck {
            decided: Some(decided(rule, evidence, Vec::new())),
            arguments: None,
            is_known_tool,
            is_checked: true,
        };
        let (arguments, is_absent) = match format::arguments(call) {
            Arguments::Illegal(rule, evidence) => return illegal(rule, &evidence),
            Arguments::Object(arguments) => (arguments, false),
            Arguments::Absent => (Map::new(), true),
        };
        let fit = fit(&arguments);
        let is_checked = !matches!(fit, ArgumentFit::Unchecked);
        let open = |arguments| Precheck { decided: None, arguments, is_known_tool, is_checked };
        match fit {
            ArgumentFit::UnknownTool if has_read => open(Some(arguments)),
            ArgumentFit::UnknownTool if is_known_tool.is_none() => open(None),
            ArgumentFit::UnknownTool => {
                let decided = Some(decided(&rules::NOT_IN_CATALOG, &call.tool, Vec::new()));
                Precheck { decided, ..open(None) }
            }
            ArgumentFit::Unchecked => open(Some(arguments)),
            ArgumentFit::Checked(problems) if problems.is_empty() => open(Some(arguments)),
            ArgumentFit::Checked(problems) if is_absent => {
                illegal(&format::NO_ARGUMENTS, &format::first_message(&problems))
            }
            ArgumentFit::Checked(problems) => {
                let decided = Some(decided(&rules::SCHEMA, &format::first_message(&problems), problems));
                Precheck { decided, ..open(Some(arguments)) }
            }
        }
    }

    /// Decides the outcome from the check before the call and the result of the call.
    #[must_use]
    pub fn finish(&self, checked: Precheck, reply: Reply) -> Classification {
        if let Some(decided) = checked.decided {
            return decided;
        }
        let (rule, evidence, has_answer) = match reply {
            Reply::Answer(answer) => {
                let (rule, evidence) = answer.decisive_rule();
                (rule, evidence, true)
            }
            Reply::NoAnswer(why, message) => (no_answer(why), message, false),
            Reply::NotExecuted if checked.is_known_tool.is_none() => {
                (&rules::SERVER_NOT_AVAILABLE, String::new(), false)
            }
            Reply::NotExecuted => (&rules::FITS_SCHEMA, String::new(), false),
        };
        Classification {
            rule,
            evidence: seen_as(&evidence),
            problems: Vec::new(),
            is_known_tool: checked.is_known_tool,
            fits_schema: (checked.is_known_tool == Some(true) && checked.is_checked).then_some(true),
            has_answer,
        }
    }
}

impl Classification {
    /// The outcome, or the reason why there is none.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.rule.verdict
    }
}

/// Decides the outcome of every call of a trajectory, in order. `reply` gets the index of a call and the call, and
/// returns the call's result; the index does not count entries that are not calls.
pub fn classify_trajectory(
    trajectory: &Trajectory,
    tools: &KnownTools,
    reply: &mut dyn FnMut(usize, &Call) -> Reply,
) -> Vec<ClassifiedCall> {
    let checker = CallChecker::new(tools);
    let (mut classified, mut index, mut asked) = (Vec::with_capacity(trajectory.call_count()), 0, 0);
    for (step, found) in trajectory.steps.iter().enumerate() {
        for (call, entry) in found.entries().enumerate() {
            let place = Some(Place { step, call, index });
            index += 1;
            classified.push(match entry {
                Ok(call) => {
                    let reply = reply(asked, call);
                    asked += 1;
                    let classification = checker.finish(checker.check(call), reply);
                    ClassifiedCall { place, tool: Some(call.tool.clone()), classification }
                }
                Err(malformed) => {
                    let text = malformed
                        .value
                        .as_str()
                        .map_or_else(|| malformed.value.to_text(Keys::AsRead), str::to_owned);
                    ClassifiedCall { place, tool: None, classification: nameless(&format::NO_NAME, &text) }
                }
            });
        }
    }
    let reply = trajectory.final_reply.as_deref().unwrap_or_default();
    if let Some(at) = format::call_in_reply(reply) {
        let classification = nameless(&format::CALL_IN_REPLY, &reply[at..]);
        classified.push(ClassifiedCall { place: None, tool: None, classification });
    }
    classified
}

/// Withdraws the outcomes of calls that failed because the trajectory's image was missing: the first call that names
/// it in its arguments, and all later ones, which may depend on it. `calls` are those from [`classify_trajectory`].
pub(super) fn excuse_missing_image(trajectory: &Trajectory, calls: &mut [ClassifiedCall]) {
    let image = trajectory.image.as_deref().and_then(|image| Path::new(image).file_name()?.to_str());
    let Some(image) = image.filter(|image| !image.is_empty()) else { return };
    let names_it =
        |call: &Call| call.arguments.as_ref().is_some_and(|json| json.to_text(Keys::AsRead).contains(image));
    let classified = calls.iter_mut().filter(|classified| classified.tool.is_some());
    let mut is_felt = false;
    for (classified, (_, call)) in classified.zip(trajectory.calls()) {
        let classification = &mut classified.classification;
        let has_failed = classification.has_answer
            && classification.verdict().outcome().is_some_and(|it| it != Outcome::Success);
        if has_failed && (is_felt || names_it(call)) {
            is_felt = true;
            classification.rule = &rules::IMAGE_MISSING;
        }
    }
}

/// The recorded result of a call: its `result`, and whether this is an error. A call without a `result` may have a
/// recorded `outcome` that says that the call was not answered, and why. An `outcome` alone never makes a call a
/// success.
#[must_use]
pub fn recorded_reply(call: &Call) -> Reply {
    use m3_trajectory::json::Json;
    let is_error = call.is_error();
    if let Some(result) = &call.result {
        return Reply::Answer(Answer::recorded(result, is_error));
    }
    let outcome = call.recorded_outcome().unwrap_or_default();
    if let Some(why) = NotJudged::named(outcome) {
        return Reply::NoAnswer(why, format!("recorded as `{outcome}`"));
    }
    if outcome == Outcome::UnknownTool.name() {
        // The tool was not offered, even if a catalog lists it.
        return Reply::Answer(Answer::protocol_error(-32_601, &format!("unknown tool: {}", call.tool)));
    }
    if is_error {
        return Reply::Answer(Answer::recorded(&Json::String(String::new()), true));
    }
    Reply::NotExecuted
}

fn nameless(rule: &'static Rule, text: &str) -> Classification {
    Classification {
        rule,
        evidence: seen_as(text),
        problems: Vec::new(),
        is_known_tool: Some(false),
        fits_schema: None,
        has_answer: false,
    }
}

/// Evidence in the form in which it is kept: on one line, with hidden characters shown, shortened.
fn seen_as(text: &str) -> String {
    shortened(&on_one_line(text), EVIDENCE)
}

fn no_answer(why: NotJudged) -> &'static Rule {
    match why {
        NotJudged::ServerNotAvailable => &rules::SERVER_NOT_AVAILABLE,
        NotJudged::TimedOut => &rules::TIMED_OUT,
        NotJudged::ServerLost => &rules::SERVER_LOST,
        NotJudged::Unreadable => &rules::UNREADABLE,
        NotJudged::ImageMissing => &rules::IMAGE_MISSING,
    }
}

#[cfg(test)]
mod tests {
    use m3_mcp::ToolCatalog;
    use m3_trajectory::json::Json;
    use serde_json::json;

    use super::*;

    /// If the check of the arguments did not end, the call is sent unchanged, and the tool is listed with the reason.
    #[test]
    fn arguments_that_were_not_checked_are_accepted_and_said() {
        let schema = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
        let tools = json!({"s": {"tools": [{"name": "t", "inputSchema": schema}]}});
        let known = KnownTools::new(&ToolCatalog::from_json(&tools));
        let checker = CallChecker::new(&known);
        let call = |tool: &str| Call {
            tool: tool.to_owned(),
            arguments: Some(Json::from(&json!({"x": "no"}))),
            result: None,
            extra: Vec::new(),
        };
        assert!(checker.check(&call("s/t")).decided.is_some());
        assert!(known.unusable_schemas().is_empty());
        let accepted = checker.check_without_arguments(&call("s/t"), None);
        assert!(accepted.decided.is_none() && known.unusable_schemas().is_empty());
        let accepted = checker.check_without_arguments(&call("s/t"), Some("it did not end"));
        assert!(accepted.decided.is_none() && accepted.arguments.is_some());
        let classification = checker.finish(accepted, Reply::NotExecuted);
        assert_eq!(classification.fits_schema, None);
        let call_of = |classification| ClassifiedCall { place: None, tool: None, classification };
        let counts = crate::counts::CallCounts::from_calls(&[call_of(classification)]);
        assert_eq!(counts.schema_compliance().value(), None);
        let [(name, error)] = known.unusable_schemas()[..] else { panic!("one tool") };
        assert_eq!((name, error.reason.as_str()), ("s/t", "it did not end"));
        assert!(checker.check_without_arguments(&call("s/other"), Some("it did not end")).decided.is_some());
    }
}
