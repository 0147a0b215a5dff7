//! The content of a recorded result for readers: a text, the parts of a tool's answer in order, or any JSON.

use super::json::{Json, Keys};

/// A recorded result as people read it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadResult<'a> {
    /// All text of the result; JSON for parts without text.
    pub text: String,
    /// The pictures of the result, each with the number of its part.
    pub pictures: Vec<(usize, ResultPicture<'a>)>,
}

/// A picture in a result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ResultPicture<'a> {
    /// A picture in a file, which may be of any kind: the path.
    File(&'a str),
    /// A picture in the result itself: the part, whose bytes are its [`sent_base64`].
    Sent(&'a Json),
}

/// Reads a result; pictures after the first `most` stay in its text.
#[must_use]
pub fn read_result(result: &Json, most: usize) -> ReadResult<'_> {
    let Some(parts) = result_parts(result) else {
        let text = result.as_str().map_or_else(|| result.to_text(Keys::AsRead), str::to_owned);
        return ReadResult { text, pictures: Vec::new() };
    };
    let (mut texts, mut pictures) = (Vec::new(), Vec::new());
    for (number, part) in parts.iter().enumerate() {
        let text = |of: &'_ Json| of.get("text").and_then(Json::as_str).map(str::to_owned);
        if let Some(words) = text(part).or_else(|| text(part.get("resource")?)) {
            texts.push(words);
        } else if let Some(picture) = result_picture(part).filter(|_| pictures.len() < most) {
            pictures.push((number, picture));
        } else {
            texts.push(part.to_text(Keys::AsRead));
        }
    }
    if texts.is_empty()
        && let Some(structured) = result.get("structuredContent")
    {
        texts.push(structured.to_text(Keys::AsRead));
    }
    ReadResult { text: texts.join("\n"), pictures }
}

/// The parts of a tool's answer, if it has any.
#[must_use]
pub fn result_parts(result: &Json) -> Option<&[Json]> {
    let parts = match result {
        Json::Array(parts) => parts,
        result => match result.get("content") {
            Some(Json::Array(parts)) => parts,
            _ => return None,
        },
    };
    let is_part = |part: &Json| part.get("type").and_then(Json::as_str).is_some();
    (!parts.is_empty() && parts.iter().all(is_part)).then_some(parts)
}

/// The picture of a part.
#[must_use]
pub fn result_picture(part: &Json) -> Option<ResultPicture<'_>> {
    let text = |key: &str| part.get(key).and_then(Json::as_str);
    if let Some(path) = text("file").or_else(|| text("path")) {
        return Some(ResultPicture::File(path));
    }
    sent_base64(part).map(|_| ResultPicture::Sent(part))
}

/// The bytes of a picture within a part, in Base64.
#[must_use]
pub fn sent_base64(part: &Json) -> Option<&str> {
    let is_image = part.get("type").and_then(Json::as_str) == Some("image");
    // The member of MCP, or that of Anthropic's messages.
    let data = part.get("data").or_else(|| part.get("source")?.get("data"));
    data.and_then(Json::as_str).filter(|_| is_image)
}

/// Whether a part of a result holds or names a file: a picture, a sound, an embedded resource that is not text.
#[must_use]
pub fn is_file(part: &Json) -> bool {
    let holder = part.get("resource").unwrap_or(part);
    ["file", "data", "blob"].iter().any(|key| holder.get(key).is_some())
}

/// The name that a run gave the file of a part in its workspace, by which later calls name it. A file that the tool
/// wrote itself has no such name: if the calls are made again, the tool writes it again.
#[must_use]
pub fn file_name(part: &Json) -> Option<&str> {
    let holder = part.get("resource").unwrap_or(part);
    match holder.get("name").and_then(Json::as_str) {
        Some(name) => Some(name),
        // Earlier versions kept such a file under this very name.
        None => holder.get("file").and_then(Json::as_str).filter(|file| !file.contains('/')),
    }
}

/// The files of a result in their order, each with its [`file_name`].
#[must_use]
pub fn file_names(result: &Json) -> Vec<Option<&str>> {
    result_parts(result).unwrap_or_default().iter().filter(|part| is_file(part)).map(file_name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    fn read(text: &str) -> (String, Vec<(usize, String)>) {
        let (result, _) = parse(text.as_bytes()).unwrap();
        let ReadResult { text, pictures } = read_result(&result, 2);
        let name = |picture: ResultPicture<'_>| match picture {
            ResultPicture::File(path) => path.to_owned(),
            ResultPicture::Sent(part) => sent_base64(part).unwrap().to_owned(),
        };
        (text, pictures.into_iter().map(|(number, picture)| (number, name(picture))).collect())
    }

    #[test]
    fn words_and_pictures_are_told_apart() {
        let parts = r#"{"content": [
            {"type": "text", "text": "one"}, {"type": "image", "data": "AA==", "mimeType": "image/png"},
            {"type": "resource", "resource": {"text": "two"}}, {"type": "image", "file": "a.png"},
            {"type": "image", "source": {"data": "BB=="}}]}"#;
        let (text, pictures) = read(parts);
        assert_eq!(text, "one\ntwo\n{\"type\":\"image\",\"source\":{\"data\":\"BB==\"}}");
        assert_eq!(pictures, [(1, "AA==".to_owned()), (3, "a.png".to_owned())]);
        let anthropic = r#"[{"type": "image", "source": {"data": "BB=="}}]"#;
        assert_eq!(read(anthropic), (String::new(), vec![(0, "BB==".to_owned())]));
    }

    #[test]
    fn names_of_files_are_those_that_a_run_gave_them() {
        let named = |text: &str| {
            let (result, _) = parse(text.as_bytes()).unwrap();
            file_names(&result).into_iter().map(|name| name.map(str::to_owned)).collect::<Vec<_>>()
        };
        let parts = r#"{"content": [
            {"type": "text", "text": "one"}, {"type": "image", "file": "results/00001-1.png"},
            {"type": "image", "file": "results/00001-2.png", "name": "result-00001-2.png"},
            {"type": "resource", "resource": {"uri": "x:y", "file": "result-00001-3.pdf"}},
            {"type": "image", "data": "AA==", "name": "a.png"}]}"#;
        let expected = [None, Some("result-00001-2.png"), Some("result-00001-3.pdf"), Some("a.png")];
        assert_eq!(named(parts), expected.map(|name| name.map(str::to_owned)));
        assert!(named("\"name\"").is_empty() && named(r#"{"file": "a.png"}"#).is_empty());
    }

    #[test]
    fn what_is_neither_words_nor_picture_is_shown_as_it_is() {
        for (result, text) in [
            ("\"a\\nb\"", "a\nb"),
            ("[]", "[]"),
            ("[{\"type\": 3}]", "[{\"type\":3}]"),
            ("{\"data\": \"AA==\"}", "{\"data\":\"AA==\"}"),
            ("[{\"type\": \"audio\", \"data\": \"AA==\"}]", "{\"type\":\"audio\",\"data\":\"AA==\"}"),
            (
                "{\"content\": [{\"type\": \"image\", \"data\": \"AA==\"}], \"structuredContent\": {\"n\": 1}}",
                "{\"n\":1}",
            ),
        ] {
            assert_eq!(read(result).0, text);
        }
    }
}
