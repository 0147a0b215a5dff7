//! The content of a message or a result: texts, pictures and other media, in the parts of every dialect.

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use m3_trajectory::json::{Json, parse};

use crate::arguments::REDACTED;
use crate::fields::Fields;

/// Texts and media in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Content {
    /// The parts.
    pub parts: Vec<Part>,
}

/// A piece of content.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A text.
    Text(String),
    /// A picture, a sound or a file.
    Media(Media),
}

/// A picture, a sound or a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Media {
    /// `image`, `audio` or `file`.
    pub kind: &'static str,
    /// The media type, such as `image/png`, if the trace has it.
    pub media_type: Option<String>,
    /// The place of the media.
    pub place: MediaPlace,
}

/// Where a picture, a sound or a file is.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum MediaPlace {
    /// In the trace itself, in base64, with the standard or the URL-safe alphabet.
    Data(String),
    /// At an address, in a file or under a provider's id.
    Reference(String),
    /// Cut, redacted or never recorded.
    #[default]
    Missing,
}

impl Content {
    /// Content of a single text.
    pub(crate) fn of_text(text: &str) -> Self {
        Self { parts: vec![Part::Text(text.to_owned())] }
    }

    /// Reads a text, a part in any dialect, or a list of parts.
    pub(crate) fn from_json(value: &Json) -> Self {
        let mut content = Self::default();
        content.add(value);
        content
    }

    /// The content in this member; empty if the value has none.
    pub(crate) fn of_member(value: &Json, key: &str) -> Self {
        value.member(key).map(Self::from_json).unwrap_or_default()
    }

    /// Adds a text, a part or a list of them.
    pub(crate) fn add(&mut self, value: &Json) {
        match value {
            Json::String(text) => self.parts.push(Part::Text(text.clone())),
            Json::Array(parts) => parts.iter().for_each(|part| self.add(part)),
            Json::Object(_) => self.parts.extend(part(value)),
            _ => {}
        }
    }

    /// The texts, joined by line feeds.
    pub(crate) fn text(&self) -> String {
        self.texts().collect::<Vec<_>>().join("\n")
    }

    /// The texts joined without separators, because a model's reply comes in pieces.
    pub(crate) fn joined_text(&self) -> String {
        self.texts().collect()
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Media(_) => None,
        })
    }

    /// The media among the parts.
    pub fn media(&self) -> impl Iterator<Item = &Media> {
        self.parts.iter().filter_map(|part| match part {
            Part::Media(media) => Some(media),
            Part::Text(_) => None,
        })
    }

    /// Whether the content has no parts.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The content as the result of a call: a text, or a list of parts if there are media.
    pub(crate) fn to_json(&self) -> Json {
        self.written(|media| Some(media.to_json()))
    }

    /// The text, or the parts if media are among them; `write` turns media into a part, or leaves them out.
    pub(crate) fn written(&self, mut write: impl FnMut(&Media) -> Option<Json>) -> Json {
        if self.media().next().is_none() {
            return Json::String(self.text());
        }
        let part = |part: &Part| match part {
            Part::Text(_) => Some(part.to_json()),
            Part::Media(media) => write(media),
        };
        Json::Array(self.parts.iter().filter_map(part).collect())
    }
}

impl Part {
    /// The part as an item of a result.
    pub(crate) fn to_json(&self) -> Json {
        match self {
            Self::Text(text) => object([("type", string("text")), ("text", string(text))]),
            Self::Media(media) => media.to_json(),
        }
    }
}

impl Media {
    /// The media as an item of a result: like MCP's, with `data` in base64 of the standard alphabet, or with `uri` for
    /// media that are elsewhere.
    pub(crate) fn to_json(&self) -> Json {
        let mut members = vec![("type".to_owned(), string(self.kind))];
        match &self.place {
            MediaPlace::Data(data) => members.push(("data".to_owned(), string(&standard(data)))),
            MediaPlace::Reference(at) => members.push(("uri".to_owned(), string(at))),
            MediaPlace::Missing => members.push(("missing".to_owned(), Json::Bool(true))),
        }
        members.extend(self.media_type.as_deref().map(|it| ("mimeType".to_owned(), string(it))));
        Json::Object(members)
    }

    /// The media at an address: their data if it is a data URL.
    pub(crate) fn of_address(kind: &'static str, address: &str, media_type: Option<&str>) -> Self {
        let mut media = Self { kind, media_type: media_type.map(str::to_owned), ..Self::default() };
        if let Some(rest) = address.strip_prefix("data:") {
            let (head, data) = rest.split_once(',').unwrap_or((rest, ""));
            let mime = head.split(';').next().unwrap_or_default();
            media.media_type =
                Some(mime).filter(|mime| !mime.is_empty()).map(str::to_owned).or(media.media_type);
            // A data URL that was cut by a tracing program has no whole picture.
            if head.ends_with(";base64") && decode(data).is_some_and(|bytes| !bytes.is_empty()) {
                media.place = MediaPlace::Data(data.to_owned());
            }
        } else if !address.is_empty() && !address.contains(REDACTED) {
            media.place = MediaPlace::Reference(address.to_owned());
        }
        media
    }

    /// Media with data in base64; missing if the data do not decode.
    pub(crate) fn of_data(kind: &'static str, data: &str, media_type: Option<&str>) -> Self {
        let place = if decode(data).is_some_and(|bytes| !bytes.is_empty()) {
            MediaPlace::Data(data.to_owned())
        } else {
            MediaPlace::Missing
        };
        Self { kind, media_type: media_type.map(str::to_owned), place }
    }

    /// Media at an address if the value looks like one, else media with data in base64.
    fn of_either(kind: &'static str, value: &str, media_type: Option<&str>) -> Self {
        if value.starts_with("data:") || value.contains("://") {
            Self::of_address(kind, value, media_type)
        } else {
            Self::of_data(kind, value, media_type)
        }
    }
}

/// The kind of media of a type such as `image/png`.
pub(crate) fn kind_of(media_type: Option<&str>) -> &'static str {
    match media_type.and_then(|media_type| media_type.split('/').next()) {
        Some("image") => "image",
        Some("audio") => "audio",
        _ => "file",
    }
}

/// The types of parts that are media.
const MEDIA: &str = "image audio video document file media input_file file-data image-data file-url image-url file-id \
    image-file-id file-reference image-file-reference blob uri resource resource_link binary audio-url \
    video-url document-url";

/// Reads a part of any dialect, if it is a text or media. Parts of other types hold calls or thoughts, not content.
fn part(value: &Json) -> Option<Part> {
    let media = |media| Some(Part::Media(media));
    let mime = ["media_type", "mime_type", "mimeType", "mediaType"];
    let mime = value.first_text(&mime);
    // Gemini's parts have no type.
    if let Some(blob) = value.first(&["inlineData", "inline_data"]) {
        let mime = blob.first_text(&["mimeType", "mime_type"]);
        return media(Media::of_data(kind_of(mime), blob.text("data").unwrap_or_default(), mime));
    }
    if let Some(file) = value.first(&["fileData", "file_data"]) {
        let mime = file.first_text(&["mimeType", "mime_type"]);
        let at = file.first_text(&["fileUri", "file_uri"]).unwrap_or_default();
        return media(Media::of_address(kind_of(mime), at, mime));
    }
    let text = |key| value.text(key).map(|text| Part::Text(text.to_owned()));
    let kind = value.text("type").or_else(|| value.text("kind").filter(|kind| is_medium_of_pydantic(kind)));
    match kind {
        None | Some("text" | "input_text" | "output_text") => {
            let inner = || value.member("text").and_then(|inner| inner.text("value"));
            text("text")
                .or_else(|| text("content"))
                .or_else(|| inner().map(|text| Part::Text(text.to_owned())))
        }
        Some("refusal") => text("refusal"),
        Some("image_url" | "input_image" | "computer_screenshot") => {
            let at = value.member("image_url");
            let at =
                at.and_then(|at| at.as_str().or_else(|| at.text("url"))).or_else(|| value.text("file_id"));
            media(Media::of_address("image", at.unwrap_or_default(), mime))
        }
        Some("input_audio") => {
            let audio = value.member("input_audio").unwrap_or(value);
            let format = audio.text("format").map(|format| match format {
                "mp3" => "audio/mpeg".to_owned(),
                other => format!("audio/{other}"),
            });
            let mime = mime.or(format.as_deref());
            media(Media::of_data("audio", audio.text("data").unwrap_or_default(), mime))
        }
        Some("resource") if value.text_below(&["resource", "text"]).is_some() => {
            value.text_below(&["resource", "text"]).map(|text| Part::Text(text.to_owned()))
        }
        Some(kind) if MEDIA.split(' ').any(|known| known == kind) => media(medium(kind, value, mime)),
        _ => None,
    }
}

/// Whether a member `kind` of this value means media in Pydantic AI.
fn is_medium_of_pydantic(kind: &str) -> bool {
    kind == "binary" || kind.ends_with("-url")
}

/// The media of a part whose type says that it is media.
fn medium(named: &str, value: &Json, mime: Option<&str>) -> Media {
    let inner = ["source", "file", "resource", "data"].iter().filter_map(|key| value.member(key));
    let source = inner.into_iter().find(|inner| matches!(inner, Json::Object(_))).unwrap_or(value);
    let mime = source.first_text(&["media_type", "mime_type", "mimeType", "mediaType"]).or(mime);
    let kind = match named {
        "image" | "image-data" | "image-url" | "image-file-id" | "image-file-reference" => "image",
        "audio" | "audio-url" => "audio",
        _ => match value.text("modality") {
            Some("image") => "image",
            Some("audio") => "audio",
            _ => kind_of(mime),
        },
    };
    let data = ["data", "base64", "blob", "content", "image", "audio", "video", "document", "file_data"];
    if let Some(data) = source.first_text(&data) {
        return Media::of_either(kind, data, mime);
    }
    let at = ["url", "uri", "path", "file_id", "fileId", "file_uri", "image", "id"];
    let at = source.first(&at).or_else(|| value.member("file")).and_then(Json::as_str).unwrap_or_default();
    Media::of_address(kind, at, mime)
}

/// The content of a text: its parts if the text is JSON that [`of_parts`] accepts (spans hold messages like this), else
/// the text itself.
pub(crate) fn of_text_or_parts(text: &str) -> Content {
    if text.trim_start().starts_with(['[', '{'])
        && let Ok((value, _)) = parse(text.as_bytes())
        && let Some(content) = of_parts(&value)
    {
        return content;
    }
    Content::of_text(text)
}

/// A list of content parts with media, or one part of Pydantic AI; `None` if it is any other value. Results of tools
/// may look similar: a list of files, for example, is not a list of parts.
pub(crate) fn of_parts(value: &Json) -> Option<Content> {
    let is_alone = value.text("kind").is_some_and(is_medium_of_pydantic) && !value.has("type");
    let count = match value {
        Json::Array(list) => list.len(),
        _ if is_alone => 1,
        _ => return None,
    };
    let content = Content::from_json(value);
    let is_medium = |media: &Media| media.kind != "file" || matches!(media.place, MediaPlace::Data(_));
    let is_content = content.parts.len() == count && content.media().any(is_medium);
    is_content.then_some(content)
}

/// A value as the result of a call; content parts with media are converted to m3's parts.
pub(crate) fn result_of(value: &Json) -> Json {
    match value {
        Json::String(text) => of_text_or_parts(text).to_json(),
        other => of_parts(other).map_or_else(|| other.clone(), |content| content.to_json()),
    }
}

/// The bytes of base64 data, in the standard or the URL-safe alphabet, with or without padding; `None` if neither.
#[must_use]
pub fn decode(data: &str) -> Option<Vec<u8>> {
    const EITHER: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let is_url_safe = data.bytes().any(|byte| byte == b'-' || byte == b'_');
    let alphabet = if is_url_safe { &URL_SAFE } else { &STANDARD };
    let engine = GeneralPurpose::new(alphabet, EITHER);
    if data.bytes().any(|byte| byte.is_ascii_whitespace()) {
        let data: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        return engine.decode(data).ok();
    }
    engine.decode(data).ok()
}

/// Bytes in base64 of the standard alphabet.
#[must_use]
pub fn encode(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// Base64 data as a data URL.
pub(crate) fn data_url(media_type: Option<&str>, data: &str) -> String {
    format!("data:{};base64,{}", media_type.unwrap_or_default(), standard(data))
}

/// Base64 data converted to the standard alphabet with padding.
pub(crate) fn standard(data: &str) -> String {
    decode(data).map_or_else(|| data.to_owned(), |bytes| encode(&bytes))
}

pub(crate) fn string(text: &str) -> Json {
    Json::String(text.to_owned())
}

pub(crate) fn object<'k>(members: impl IntoIterator<Item = (&'k str, Json)>) -> Json {
    Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// The members that have a count.
pub(crate) fn counts<'k>(
    members: impl IntoIterator<Item = (&'k str, Option<u64>)>,
) -> impl Iterator<Item = (&'k str, Json)> {
    members.into_iter().filter_map(|(key, count)| Some((key, Json::Integer(i64::try_from(count?).ok()?))))
}
