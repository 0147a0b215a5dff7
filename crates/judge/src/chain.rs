//! The calls of a run as the judge sees them, each with how it ended.

use m3_flow::{CallPlace, CallStatus, Chain, ChainCall};
use m3_outcomes::{KnownTools, Outcome, Reply, Verdict, classify_trajectory, recorded_reply};
use m3_trajectory::Trajectory;

/// The calls of a trajectory. How each ended is taken from its recorded outcome if there is one, else from the
/// rules of [`outcomes`](m3_outcomes) with these tools or, without tools, from the result alone.
#[must_use]
pub fn chain_of_run(trajectory: &Trajectory, tools: &KnownTools) -> Chain {
    let unlisted = KnownTools::unlisted();
    let tools = if tools.is_empty() { &unlisted } else { tools };
    let judged = classify_trajectory(trajectory, tools, &mut |_, call| recorded_reply(call));
    let judged = judged.iter().filter(|judged| judged.tool.is_some() && judged.place.is_some());
    let places = trajectory.steps.iter().enumerate().flat_map(|(step, found)| {
        found.calls.iter().enumerate().map(move |(call, found)| (CallPlace { step, call }, found))
    });
    let calls = places.zip(judged).map(|((place, call), judged)| {
        let standing = match call.recorded_outcome() {
            Some(outcome) if outcome == Outcome::Success.name() => CallStatus::Succeeded,
            Some(outcome) => CallStatus::Failed(outcome.to_owned()),
            None if recorded_reply(call) == Reply::NotExecuted => CallStatus::NotRecorded,
            None => match judged.classification.verdict() {
                Verdict::Outcome(Outcome::Success) => CallStatus::Succeeded,
                verdict => CallStatus::Failed(verdict.name().to_owned()),
            },
        };
        ChainCall {
            place,
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            result: call.result.clone(),
            standing,
            read_only: tools.is_read_only(&call.tool),
        }
    });
    let given = [trajectory.question.as_deref(), trajectory.prompt(), trajectory.image.as_deref()];
    Chain { calls: calls.collect(), given: given.into_iter().flatten().map(str::to_owned).collect() }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::Json;
    use m3_trajectory::{Call, Step};

    use super::*;

    /// How a call with this record ended, decided without a catalog.
    fn standing(tool: &str, result: Option<&str>, extra: &[(&str, Json)]) -> CallStatus {
        let call = Call {
            tool: tool.to_owned(),
            arguments: Some(Json::Object(Vec::new())),
            result: result.map(|result| Json::String(result.to_owned())),
            extra: extra.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
        };
        let steps = vec![Step { calls: vec![call], ..Step::default() }];
        let trajectory = Trajectory { id: "t".to_owned(), steps, ..Trajectory::default() };
        let mut chain = chain_of_run(&trajectory, &KnownTools::default());
        chain.calls.remove(0).standing
    }

    #[test]
    fn without_a_catalog_a_call_stands_as_its_answer_says() {
        let failed = |outcome: Outcome| CallStatus::Failed(outcome.name().to_owned());
        // The rule also holds for a tool without a server, whose tools cannot be listed.
        for tool in ["shop/buy", "buy"] {
            let error = [("is_error", Json::Bool(true))];
            let sold_out = standing(tool, Some("it is sold out"), &error);
            assert!(matches!(sold_out, CallStatus::Failed(_)), "{tool} {sold_out:?}");
            assert_eq!(
                standing(tool, Some("404 not found"), &error),
                failed(Outcome::ResourceNotFound),
                "{tool}"
            );
            let bare = standing(tool, None, &error);
            assert!(matches!(bare, CallStatus::Failed(_)), "{tool} {bare:?}");
            let fine = [("is_error", Json::Bool(false))];
            assert_eq!(standing(tool, Some("7"), &fine), CallStatus::Succeeded, "{tool}");
            assert_eq!(standing(tool, Some("7"), &[]), CallStatus::Succeeded, "{tool}");
            assert_eq!(standing(tool, None, &[]), CallStatus::NotRecorded, "{tool}");
            // A recorded outcome takes precedence over the result.
            let success = Json::String("success".to_owned());
            let both = [("is_error", Json::Bool(true)), ("outcome", success)];
            assert_eq!(standing(tool, Some("x"), &both), CallStatus::Succeeded, "{tool}");
        }
    }
}
