//! Messages of `LangChain` in all their shapes.

use super::super::chat;
use crate::arguments::read;
use crate::content::Part;
use crate::formats::prelude::*;

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Human,
    Ai,
    Tool,
    /// A message of the program: system, developer.
    Program,
    /// A mark that messages are taken out of a state.
    Remove,
    /// A generic message, whose member `role` has the author.
    Role,
}

/// A message without its wrapping.
#[derive(Debug, Clone)]
pub(crate) struct Message<'j> {
    pub(crate) kind: Kind,
    /// The members of the message; a piece is merged with pieces of the same id.
    pub(crate) data: Cow<'j, Json>,
    /// Whether it is a piece of a stream.
    is_piece: bool,
}

impl<'j> Message<'j> {
    /// A message in any shape but OpenAI's.
    pub(crate) fn parse(value: &'j Json) -> Option<Self> {
        if value.member("lc").is_some() {
            let class = value.list("id").last()?.as_str()?;
            let kwargs = value.member("kwargs").filter(|_| value.says("type", "constructor"))?;
            return Self::named(class, kwargs).filter(|_| class.contains("Message"));
        }
        let named = value.text("type")?;
        match value.member("data") {
            Some(data @ Json::Object(_)) => Self::named(named, data),
            _ if value.has("role") && named != "chat" => None,
            _ => Self::named(named, value).filter(|it| value.has("content") || it.kind == Kind::Remove),
        }
    }

    /// Whether the message is from the user.
    pub(crate) fn is_human(&self) -> bool {
        self.kind == Kind::Human
    }

    /// A message by its type or the name of its class.
    fn named(name: &str, data: &'j Json) -> Option<Self> {
        let whole = name.strip_suffix("Chunk");
        let kind = match whole.unwrap_or(name) {
            "human" | "HumanMessage" => Kind::Human,
            "ai" | "AIMessage" => Kind::Ai,
            "tool" | "ToolMessage" | "function" | "FunctionMessage" => Kind::Tool,
            "system" | "SystemMessage" | "developer" | "DeveloperMessage" => Kind::Program,
            "remove" | "RemoveMessage" => Kind::Remove,
            "chat" | "ChatMessage" => match data.text("role") {
                Some("user" | "human") => Kind::Human,
                Some("assistant" | "ai" | "model") => Kind::Ai,
                Some("system" | "developer") => Kind::Program,
                _ => Kind::Role,
            },
            _ => return None,
        };
        Some(Self { kind, data: Cow::Borrowed(data), is_piece: whole.is_some() })
    }

    /// A message in OpenAI's shape whose calls stand in blocks of its content.
    pub(crate) fn of_blocks(value: &'j Json) -> Option<Self> {
        let has_uses = value.list("content").iter().any(|block| block.says("type", "tool_use"));
        let is_ai = value.says("role", "assistant") && !value.has("tool_calls") && has_uses;
        is_ai.then_some(Self { kind: Kind::Ai, data: Cow::Borrowed(value), is_piece: false })
    }
}

/// Adds a list of messages of any shapes.
pub(crate) fn add_all<'j>(it: &mut Conversation, messages: impl Iterator<Item = &'j Json>) {
    let mut pending: Vec<Message<'j>> = Vec::new();
    let mut places = HashMap::new();
    let flush = |it: &mut Conversation, pending: &mut Vec<Message<'j>>| {
        pending.drain(..).for_each(|message| add(it, &message));
    };
    for value in messages {
        let Some(message) = Message::parse(value).or_else(|| Message::of_blocks(value)) else {
            flush(it, &mut pending);
            places.clear();
            chat::message(it, value);
            continue;
        };
        // Pieces of several messages may come in turns.
        let id = message.data.text("id").filter(|_| message.is_piece).map(str::to_owned);
        let place = id.as_ref().and_then(|id| places.get(id)).copied();
        if let Some(first) = place.and_then(|place: usize| pending.get_mut(place)) {
            merge(first.data.to_mut(), &message.data);
        } else {
            places.extend(id.map(|id| (id, pending.len())));
            pending.push(message);
        }
    }
    flush(it, &mut pending);
}

/// Joins a piece of a message to those before it.
fn merge(whole: &mut Json, piece: &Json) {
    let Json::Object(whole) = whole else { return };
    for (key, value) in members(piece) {
        let old = whole.iter_mut().find(|(old, _)| old == key).map(|(_, old)| old);
        match (key.as_str(), old, value) {
            (_, _, Json::Null) => {}
            ("content", Some(Json::String(old)), Json::String(new)) => old.push_str(new),
            ("content" | "tool_call_chunks" | "tool_calls", Some(Json::Array(old)), Json::Array(new)) => {
                old.extend(new.iter().cloned());
            }
            ("content", Some(old @ Json::String(_)), Json::Array(new)) => {
                let first = std::mem::replace(old, Json::Null);
                *old = Json::Array(std::iter::once(first).chain(new.iter().cloned()).collect());
            }
            ("content", Some(Json::Array(old)), new @ Json::String(_)) => old.push(new.clone()),
            ("usage_metadata", Some(Json::Array(old)), usage) => old.push(usage.clone()),
            ("usage_metadata", Some(old), usage) => {
                let first = std::mem::replace(old, Json::Null);
                *old = Json::Array(vec![first, usage.clone()]);
            }
            ("response_metadata", Some(old), new) if !members(new).is_empty() => *old = new.clone(),
            (_, Some(old @ Json::Null), new) => *old = new.clone(),
            (_, Some(_), _) => {}
            (_, None, new) => whole.push((key.clone(), new.clone())),
        }
    }
}

/// Adds a message.
pub(crate) fn add(it: &mut Conversation, message: &Message<'_>) {
    let data: &Json = &message.data;
    let content = || Content::of_member(data, "content");
    match message.kind {
        Kind::Human => it.user(content()),
        Kind::Ai => reply(it, data, data.text("id")),
        Kind::Tool => {
            let id = call_id(data.member("tool_call_id"));
            it.result(outcome(id, data));
        }
        Kind::Program | Kind::Remove => {}
        Kind::Role => it.note("a message of another role is left out"),
    }
}

/// The result that a message holds.
pub(crate) fn outcome(id: Option<String>, data: &Json) -> Outcome {
    Outcome {
        tool: data.text("name").map(|name| tool(None, name)),
        is_error: data.says("status", "error"),
        ..Outcome::new(id, data.member("content").map(result))
    }
}

/// The result of a call: a text, parts, or any other value as it is.
pub(crate) fn result(content: &Json) -> Json {
    let parts = Content::from_json(content);
    let is_content = match content {
        Json::String(_) => true,
        Json::Array(items) => items.len() == parts.parts.len(),
        _ => parts.parts.len() == 1,
    };
    if is_content { parts.to_json() } else { content.clone() }
}

/// Adds a reply of a model.
pub(crate) fn reply(it: &mut Conversation, data: &Json, id: Option<&str>) {
    let about = data.member("response_metadata");
    it.set_model(about.and_then(|about| about.first(&["model_name", "model"])).and_then(Json::as_str));
    it.usage.add(usage(data));
    let blocks = data.member("content").map(Json::items).unwrap_or_default();
    for call in hosted(blocks) {
        it.step(vec![call]);
    }
    it.reply(id);
    for part in Content::of_member(data, "content").parts {
        if let Part::Text(text) = part {
            it.say(&text);
        }
    }
    let calls = match data.list("tool_call_chunks") {
        [] => calls(it, data, blocks),
        streamed => pieces(streamed),
    };
    it.calls(calls);
}

/// The calls of a reply, each once: programs repeat them in the shape of their provider.
fn calls(it: &mut Conversation, data: &Json, blocks: &[Json]) -> Vec<TracedCall> {
    let extra = data.member("additional_kwargs");
    let extra_calls = extra.map_or(&[][..], |extra| extra.list("tool_calls"));
    if !data.has("tool_calls") && !data.has("invalid_tool_calls") {
        let legacy = extra.and_then(|extra| extra.member("function_call")).map(chat::call);
        let blocks =
            blocks.iter().filter(|it| it.says("type", "tool_use") || it.says("type", "tool_call")).map(call);
        return match extra_calls {
            [] => legacy.map_or_else(|| blocks.collect(), |legacy| vec![legacy]),
            calls => calls.iter().map(chat::call).collect(),
        };
    }
    let valid = data.list("tool_calls").iter().map(call);
    let broken = data.list("invalid_tool_calls").iter().map(call);
    let (count, mut all) = (valid.len(), valid.chain(broken).collect::<Vec<_>>());
    if count > 0 && count < all.len() {
        let order: HashMap<String, usize> = extra_calls
            .iter()
            .chain(blocks)
            .filter_map(|call| call_id(call.member("id")))
            .enumerate()
            .map(|(place, id)| (id, place))
            .collect();
        let place = |call: &TracedCall| call.id.as_ref().and_then(|id| order.get(id)).copied();
        if all.iter().any(|call| place(call).is_none()) {
            it.note("in which order calls with broken arguments came among the others is not known");
        } else {
            all.sort_by_key(place);
        }
    }
    all
}

/// A call; if its arguments could not be read they are the text that the model wrote.
fn call(call: &Json) -> TracedCall {
    let id = call_id(call.member("id"));
    TracedCall::new(id, named_tool(call, "name"), arguments(call.first(&["args", "input", "arguments"])))
}

/// The calls whose pieces were streamed.
fn pieces(pieces: &[Json]) -> Vec<TracedCall> {
    let mut calls: Vec<(Option<u64>, TracedCall, String)> = Vec::new();
    let mut places = HashMap::new();
    for piece in pieces {
        let index = piece.count("index");
        let id = call_id(piece.member("id"));
        let known = index.and_then(|index| places.get(&index)).copied();
        // An index that begins again with another id is of a further call.
        let known = known.filter(|place: &usize| {
            id.is_none() || calls.get(*place).is_some_and(|call| call.1.id.is_none() || call.1.id == id)
        });
        let place = known.unwrap_or_else(|| {
            calls.push((index, TracedCall::default(), String::new()));
            calls.len() - 1
        });
        places.extend(index.map(|index| (index, place)));
        if let Some((_, call, written)) = calls.get_mut(place) {
            call.id = call.id.take().or(id);
            call.tool.push_str(piece.text("name").unwrap_or_default());
            written.push_str(piece.text("args").unwrap_or_default());
        }
    }
    let whole = |(_, call, written): (_, TracedCall, String)| TracedCall {
        tool: tool(None, &call.tool),
        arguments: read(&written),
        ..call
    };
    calls.into_iter().map(whole).collect()
}

/// Calls that the provider ran inside of a reply, with the results that stand beside them.
fn hosted(blocks: &[Json]) -> Vec<TracedCall> {
    let kind = |block: &Json| block.text("type").unwrap_or_default().to_owned();
    let mut calls: Vec<TracedCall> = Vec::new();
    let mut places = HashMap::new();
    for block in blocks {
        let kind = kind(block);
        if ["server_tool_call", "server_tool_use", "mcp_tool_use"].contains(&kind.as_str()) {
            let made = TracedCall {
                tool: tool(block.text("server_name"), block.text("name").unwrap_or_default()),
                ..call(block)
            };
            places.extend(made.id.clone().map(|id| (id, calls.len())));
            calls.push(made);
        } else if kind == "server_tool_result" || kind.ends_with("_tool_result") {
            let id = call_id(block.first(&["tool_call_id", "tool_use_id"]));
            let made = id.and_then(|id| places.get(&id)).and_then(|place: &usize| calls.get_mut(*place));
            let Some(made) = made else { continue };
            made.result = block.first(&["output", "content"]).map(result);
            let inner = block.text_below(&["content", "type"]).unwrap_or_default();
            made.is_error =
                block.is("is_error") || block.says("status", "error") || inner.ends_with("_error");
        }
    }
    calls
}

/// Tokens of a reply; the provider's own record of them is used only if there is no other.
fn usage(data: &Json) -> Usage {
    let mut all = Usage::default();
    match data.member("usage_metadata") {
        Some(Json::Array(pieces)) => pieces.iter().for_each(|piece| all.add(of_metadata(piece))),
        Some(usage) => all = of_metadata(usage),
        None => {}
    }
    if all.is_empty() {
        let about = |key| data.below(&["response_metadata", key]);
        all = about("token_usage").map(Usage::of_openai).unwrap_or_default();
        if all.is_empty() && about("model_provider").is_some_and(|it| it.as_str() == Some("anthropic")) {
            all = about("usage").map(Usage::of_anthropic).unwrap_or_default();
        }
    }
    all
}

/// Tokens as `LangChain` writes them: input includes cached tokens.
pub(crate) fn of_metadata(usage: &Json) -> Usage {
    let (cached, reasoning) = ("input_token_details.cache_read", "output_token_details.reasoning");
    Usage::named(usage, ["input_tokens", cached, "output_tokens", reasoning])
}
