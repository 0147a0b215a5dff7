//! Exports of chat programs that keep a conversation as a tree of messages, in which an edited question begins a branch:
//! `ChatGPT`, Open `WebUI`; and rounds of calls in chats of VS Code.

use super::dialects::add_messages;
use crate::arguments::{input as text_input, read as read_arguments};
use crate::formats::prelude::*;

/// The format of such exports, recognized by their trees.
pub(super) const TREES: Format = Format {
    name: "chat-export",
    title: "exports of ChatGPT, LibreChat, Open WebUI and VS Code's chat",
    recognizes: |head| {
        head.any(|record| tree(record).is_some() || is_session(record) || !replies_below(record).is_empty())
    },
    read,
};

/// A tree of messages: the nodes by their ids, the last node, and the member with the id of the node before.
struct Tree<'j> {
    nodes: &'j Json,
    last: &'j str,
    parent: &'static str,
}

fn tree(record: &Json) -> Option<Tree<'_>> {
    let chat = record.member("chat").unwrap_or(record);
    let history = chat.member("history");
    let (nodes, last, parent) = if let Some(mapping) = record.member("mapping") {
        (mapping, record.text("current_node"), "parent")
    } else {
        let history = history?;
        (history.member("messages")?, history.first(&["currentId", "current_id"])?.as_str(), "parentId")
    };
    let is_node = |(_, node): &(String, Json)| node.has("message") || node.has("role");
    members(nodes).iter().any(is_node).then_some(Tree { nodes, last: last?, parent })
}

impl<'j> Tree<'j> {
    /// The messages from the root to the last node.
    fn branch(&self) -> Vec<&'j Json> {
        let mut branch = Vec::new();
        let mut nodes: HashMap<&str, &Json> =
            members(self.nodes).iter().map(|(id, node)| (id.as_str(), node)).collect();
        let mut next = Some(self.last);
        // A node that is taken out cannot be its own ancestor.
        while let Some(node) = next.and_then(|id| nodes.remove(id)) {
            branch.push(node.member("message").unwrap_or(node));
            next = node.text(self.parent);
        }
        branch.reverse();
        branch
    }
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    input.records(sink, |sink, at, record| {
        let mut it = Conversation::default();
        let messages: Vec<Json> = match tree(record) {
            Some(tree) => {
                let branch = tree.branch();
                for _ in 0..calls_beside(&tree, &branch) {
                    it.note("a call of another branch is left out");
                }
                branch.into_iter().flat_map(message).collect()
            }
            None if is_session(record) => record.list("requests").iter().flat_map(request).collect(),
            None => replies_below(record),
        };
        if messages.is_empty() && !is_session(record) {
            return crate::lost::leave_out(sink, at.line, record, "a record without messages is left out");
        }
        add_messages(&mut it, &messages);
        let id = record
            .first(&["conversation_id", "conversationId", "id", "sessionId"])
            .and_then(crate::fields::id);
        it.id = at.id(id);
        sink.trace(at.line, it.finish())
    })
}

/// How many messages with calls stand in other branches: they belong to questions that were edited.
fn calls_beside(tree: &Tree<'_>, branch: &[&Json]) -> usize {
    let calls = |node: &Json| {
        let all = message(node.member("message").unwrap_or(node));
        all.iter()
            .filter(|message| message.has("tool_calls") || message.says("type", "function_call"))
            .count()
    };
    let all: usize = members(tree.nodes).iter().map(|(_, node)| calls(node)).sum();
    all.saturating_sub(branch.iter().map(|node| calls(node)).sum())
}

/// The messages of a tree in which each message holds those that follow it (`LibreChat`), along the branch that is the last;
/// empty for any other record.
fn replies_below(record: &Json) -> Vec<Json> {
    let is_tree =
        |list: &[Json]| list.iter().any(|message| message.has("isCreatedByUser") && message.has("children"));
    let mut list = record.list("messages");
    let mut branch = Vec::new();
    while let Some(last) = list.last().filter(|_| is_tree(list)) {
        list = last.list("children");
        let own = members(last).iter().filter(|(key, _)| key != "children").cloned();
        branch.push(Json::Object(own.collect()));
    }
    branch
}

/// A node's message, as messages of the dialect that most programs write.
fn message(node: &Json) -> Vec<Json> {
    // Newer versions of Open WebUI keep the items of the Responses API.
    if !node.list("output").is_empty() {
        return node.list("output").to_vec();
    }
    let Some(author) = node.member("author") else { return vec![node.clone()] };
    let content = node.member("content").unwrap_or(&Json::Null);
    let text = content.text("text").map_or_else(|| Content::from_json(&parts(content)).text(), str::to_owned);
    let role = author.text("role").unwrap_or_default();
    let is_hidden = matches!(
        content.text("content_type"),
        Some("thoughts" | "reasoning_recap" | "user_editable_context" | "model_editable_context")
    );
    match (role, node.text("recipient")) {
        _ if is_hidden => Vec::new(),
        ("assistant", Some(tool)) if tool != "all" => {
            let arguments = match read_arguments(&text) {
                Some(object @ Json::Object(_)) => object,
                _ => text_input(&string(&text)),
            };
            let call = object([("name", string(tool)), ("arguments", arguments)]);
            vec![object([("role", string(role)), ("tool_calls", Json::Array(vec![call]))])]
        }
        ("tool", _) => {
            let name = author.text("name").unwrap_or_default();
            vec![object([("role", string(role)), ("name", string(name)), ("content", string(&text))])]
        }
        _ => vec![object([("role", string(role)), ("content", parts(content))])],
    }
}

/// The parts of a content; texts in it are strings.
fn parts(content: &Json) -> Json {
    content.first(&["parts", "text"]).cloned().unwrap_or(Json::Null)
}

/// Whether a record is a chat of VS Code, whose requests have rounds of calls.
fn is_session(record: &Json) -> bool {
    record.list("requests").iter().any(|request| request.has("message") && request.has("response"))
        && record.first(&["requesterUsername", "responderUsername", "sessionId", "initialLocation"]).is_some()
}

/// The messages of a request: what the user asked, and each round of the model with its results.
fn request(request: &Json) -> Vec<Json> {
    let mut messages = Vec::new();
    let asked = request.below(&["message", "text"]).cloned().unwrap_or(Json::Null);
    messages.push(object([("role", string("user")), ("content", asked)]));
    let metadata = request.below(&["result", "metadata"]).unwrap_or(&Json::Null);
    let rounds = metadata.list("toolCallRounds");
    for round in rounds {
        let text = round.member("response").cloned().unwrap_or(Json::Null);
        let calls = round.member("toolCalls").cloned().unwrap_or(Json::Null);
        let ids: Vec<String> = round.list("toolCalls").iter().filter_map(|call| call.id("id")).collect();
        messages.push(object([("role", string("assistant")), ("content", text), ("tool_calls", calls)]));
        for id in ids {
            let result = metadata.below(&["toolCallResults", &id, "content"]).map(values);
            let result = result.map(|content| ("content", content));
            let id = [("role", string("tool")), ("tool_call_id", string(&id))];
            messages.extend(result.map(|result| object(id.into_iter().chain([result]))));
        }
    }
    if rounds.is_empty() {
        let texts = request.list("response").iter().filter_map(|part| part.text("value"));
        let text: String = texts.collect();
        messages.push(object([("role", string("assistant")), ("content", string(&text))]));
    }
    messages
}

/// The texts among the values of a result.
fn values(content: &Json) -> Json {
    let texts: Vec<&str> = content.items().iter().filter_map(|part| part.text("value")).collect();
    if texts.is_empty() { content.clone() } else { string(&texts.join("\n")) }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    /// The members are those of `ChatGPT`'s `conversations.json` as people describe it, and of Open `WebUI`'s source (0.12.4).
    #[test]
    fn the_last_branch_of_a_tree_is_the_conversation() {
        let node = |id: &str, parent: &str, message: &str| {
            format!(r#""{id}": {{"id": "{id}", "parent": "{parent}", "message": {message}, "children": []}}"#)
        };
        let text = |role: &str, text: &str| {
            format!(
                r#"{{"author": {{"role": "{role}", "name": "python"}}, "recipient": "all", "content": {{"content_type": "text", "parts": ["{text}"]}}}}"#
            )
        };
        let call = |code: &str| {
            format!(
                r#"{{"author": {{"role": "assistant"}}, "recipient": "python", "content": {{"content_type": "code", "text": "{code}"}}}}"#
            )
        };
        let nodes = [
            node("r", "", "null"),
            node("u", "r", &text("user", "Q?")),
            node("x", "u", &call("other")),
            node("c", "u", &call("1+1")),
            node("t", "c", &text("tool", "2")),
            node("a", "t", &text("assistant", "A.")),
        ];
        let tree = format!(
            r#"[{{"title": "t", "conversation_id": "k", "current_node": "a", "mapping": {{{}}}}}]"#,
            nodes.join(",")
        );
        let (format, kept) = read_text("conversations.json", &tree).unwrap();
        let trace = &kept.traces[0];
        assert_eq!((format, trace.id.as_deref()), ("chat-export", Some("k")));
        assert_eq!(shown(trace), [r#"python({"input":"1+1"})=2"#]);
        assert_eq!(
            (trace.question.as_ref().unwrap().text().as_str(), trace.final_reply.as_deref()),
            ("Q?", Some("A."))
        );
        assert_eq!(trace.notes.iter().next(), Some(("a call of another branch is left out", 1)));

        let items = r#"[{"type": "function_call", "call_id": "1", "name": "a", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": [{"type": "input_text", "text": "r"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A."}]}]"#;
        let chat = format!(
            r#"[{{"id": "k", "chat": {{"history": {{"currentId": "2", "messages": {{
            "1": {{"id": "1", "parentId": null, "role": "user", "content": "Q?"}},
            "2": {{"id": "2", "parentId": "1", "role": "assistant", "content": "A.", "output": {items}}}}}}}}}}}]"#
        );
        let (_, kept) = read_text("chat.json", &chat).unwrap();
        assert_eq!((shown(&kept.traces[0]).len(), kept.traces[0].final_reply.as_deref()), (1, Some("A.")));
    }

    /// The members are those of VS Code's `Chat: Export Chat` as people describe it; no export of the program was at hand.
    #[test]
    fn rounds_of_vs_code_are_replies() {
        let text = r#"{"responderUsername": "GitHub Copilot", "requests": [{"message": {"text": "Q?"}, "response": [{"value": "A."}],
            "result": {"metadata": {"toolCallRounds": [{"response": "", "toolCalls": [{"name": "a", "arguments": "{}", "id": "1"}]},
            {"response": "A.", "toolCalls": []}], "toolCallResults": {"1": {"content": [{"value": "r"}]}}}}}]}"#;
        let (format, kept) = read_text("chat.json", text).unwrap();
        assert_eq!((format, shown(&kept.traces[0])), ("chat-export", vec!["a({})=r".to_owned()]));
        assert_eq!(kept.traces[0].final_reply.as_deref(), Some("A."));
    }
}
