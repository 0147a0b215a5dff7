//! A reference as the page of `m3 review` shows it, with everything that is known about it.

use std::collections::HashSet;

use m3_support::text::{json_without_hidden, shortened};
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, ReadResult, ResultPicture, read_result};
use serde_json::{Value, json};

use super::arrangement::{EditProblem, LONGEST_TOOL, PlacedCall, Revision, Rules};
use super::decision::Decision;
use super::evidence::{cut, passage, shown, tree};
use super::findings::findings;
use super::links::CallLinks;
use super::reviews::Reviews;

/// The longest arguments and answers of the file that are shown in full and can be edited in the page, in bytes.
const LONGEST_EDITABLE: usize = 200_000;

/// The most pictures that are shown of a result.
const MOST_PICTURES: usize = 50;

/// A reference as it stands, and the number of its findings; `file_problems` are the problems in its file.
pub(super) fn reference(
    reviews: &Reviews,
    rules: &Rules,
    index: usize,
    file_problems: &[EditProblem],
) -> Option<(Value, usize)> {
    let reference = reviews.references().get(index)?;
    let subject = reviews.subject(index);
    let revision = reviews.current(index);
    let calls: Vec<(usize, &Call)> = reference.calls().collect();
    let of_file = subject.calls();
    let linked = CallLinks::of(subject, &revision.steps);
    let placed_call = |placed: &PlacedCall| {
        let result = subject.result(&of_file, placed.call).filter(|_| placed.arguments.is_none());
        let was_in = calls.get(placed.call).map(|(step, _)| *step);
        Some(call(rules, (index, placed, was_in), &*placed.as_it_stands(&of_file)?, result))
    };
    let steps = revision.steps.iter();
    let steps: Vec<Vec<Value>> = steps.map(|step| step.iter().filter_map(placed_call).collect()).collect();
    let placed: HashSet<usize> = revision.steps.iter().flatten().map(|placed| placed.call).collect();
    let removed = (0..calls.len()).filter(|number| !placed.contains(number));
    let removed = removed.filter_map(|call| placed_call(&PlacedCall { call, tool: None, arguments: None }));
    let history = reviews.history(index).map(|(decision, counts)| history_entry(decision, counts));
    let evidence = reference.extra.iter().filter(|(key, _)| key == "judge" || key == "review");
    let evidence = evidence.map(|(key, value)| json!({"key": key, "value": tree(value)}));
    let findings_here = findings(subject, (&revision, &linked), rules, file_problems);
    let count = findings_here.count();
    let document = json!({
        "index": index,
        "id": shortened(&reference.id, 1000),
        "type": reference.task_type.as_deref().map(|text| shortened(text, 200)),
        "question": reference.question.as_deref().map(passage),
        "reply": revision.answer(reference).map(passage),
        "written_reply": written_reply(&revision, reference.final_reply.as_deref()),
        "is_reply_changed": revision.reply.is_some(),
        "image": reference.image.as_deref().map(|path| shortened(path, 300)),
        "state": reviews.state(index),
        "version": reviews.version(index),
        "has_catalog": rules.has_catalog(),
        "findings": findings_here.shown,
        "more_findings": findings_here.more,
        "steps": steps,
        "removed": removed.collect::<Vec<_>>(),
        "links": linked.links,
        "origin": subject.origin_in_words(),
        "evidence": evidence.collect::<Vec<_>>(),
        "history": history.collect::<Vec<_>>(),
    });
    Some((document, count))
}

/// The answer to be edited, letter for letter; `None` if it is too long to edit.
fn written_reply<'a>(revision: &'a Revision, of_file: Option<&'a str>) -> Option<&'a str> {
    let of_file = Some(of_file.unwrap_or_default()).filter(|reply| reply.len() <= LONGEST_EDITABLE);
    revision.reply.as_deref().or(of_file)
}

/// A call of a reference as it stands. `was_in` is its step in the file, `None` if it was added. `result` is the result
/// for its arguments.
fn call(
    rules: &Rules,
    (index, placed, was_in): (usize, &PlacedCall, Option<usize>),
    call: &Call,
    result: Option<&Json>,
) -> Value {
    let is_changed = placed.arguments.is_some();
    let none = Json::Object(Vec::new());
    let now = call.arguments.as_ref().unwrap_or(&none);
    let text = json_without_hidden(&now.to_text(Keys::AsRead)).into_owned();
    let outcome = call.get("outcome");
    // What a person wrote goes to the page in full, because the page sends it back.
    let is_editable = is_changed || text.len() <= LONGEST_EDITABLE;
    json!({
        "call": placed.call,
        "was_in": was_in.map(|step| step + 1),
        "is_added": placed.tool.is_some(),
        "tool": shortened(&call.tool, LONGEST_TOOL),
        "arguments": if is_editable { text } else { cut(&text, LONGEST_EDITABLE) },
        "is_editable": is_editable,
        "is_changed": is_changed,
        "result": result.map(|result| shown_result(result, index, placed.call)),
        "outcome": outcome.map(shown),
        "problems": rules.problems(placed.call, &call.tool, now),
        "remark": rules.remark(&call.tool),
    })
}

/// A result: its text, and the addresses of its pictures for the page.
fn shown_result(result: &Json, index: usize, call: usize) -> Value {
    let ReadResult { text, pictures } = read_result(result, MOST_PICTURES);
    let picture = |(part, picture): (usize, ResultPicture<'_>)| {
        let title = match picture {
            ResultPicture::File(path) => path,
            ResultPicture::Sent(part) => part.get("mimeType").and_then(Json::as_str).unwrap_or("image"),
        };
        json!({"address": format!("result/{index}/{call}/{part}"), "title": shortened(title, 300)})
    };
    json!({"text": passage(&text), "pictures": pictures.into_iter().map(picture).collect::<Vec<_>>()})
}

fn history_entry(decision: &Decision, counts: bool) -> Value {
    json!({
        "name": decision.name,
        "time": decision.time,
        "what": decision.action.summary(),
        "note": decision.action.note(),
        "counts": counts,
        "set_aside": decision.set_aside,
    })
}
