//! Keeps all images of a request within the provider's limits, although a conversation that goes on keeps adding
//! images.

use std::collections::BTreeSet;
use std::sync::Arc;

use m3_llm::{Message, Part, Picture, RequestLimits};

/// A picture of the conversation, and its path in the workspace.
#[derive(Debug, Clone)]
pub(super) struct ShownPicture {
    pub(super) path: String,
    pub(super) picture: Arc<Picture>,
}

/// Takes the oldest pictures that tools returned out of the messages, until the rest fits; a sentence that names the
/// file replaces each. The task's own image stays. Returns the paths of the pictures that were taken out, in order.
pub(super) fn make_room(
    messages: &mut [Arc<Message>],
    limits: RequestLimits,
    task_image: Option<&Arc<Picture>>,
    shown: &[ShownPicture],
) -> Vec<String> {
    let pictures = pictures(messages);
    let (mut count, mut bytes) =
        (pictures.len(), pictures.iter().map(|picture| picture.bytes.len()).sum::<usize>());
    let mut out = BTreeSet::new();
    for (place, picture) in pictures.iter().enumerate() {
        if count <= limits.images && bytes <= limits.image_bytes {
            break;
        }
        if task_image.is_some_and(|image| Arc::ptr_eq(image, picture)) {
            continue;
        }
        out.insert(place);
        count -= 1;
        bytes -= picture.bytes.len();
    }
    if out.is_empty() { Vec::new() } else { replace(messages, &out, shown) }
}

/// The pictures of a conversation, oldest first.
fn pictures(messages: &[Arc<Message>]) -> Vec<Arc<Picture>> {
    let of = |message: &Message| -> Vec<Arc<Picture>> {
        match message {
            Message::User(parts) => {
                let picture = |part: &Part| match part {
                    Part::Image(picture) => Some(Arc::clone(picture)),
                    Part::Text(_) => None,
                };
                parts.iter().filter_map(picture).collect()
            }
            Message::Assistant(_) => Vec::new(),
            Message::ToolResults(answers) => {
                answers.iter().flat_map(|answer| &answer.images).map(Arc::clone).collect()
            }
        }
    };
    messages.iter().flat_map(|message| of(message)).collect()
}

/// Replaces the pictures at these places, counted as [`pictures`] does, by sentences.
fn replace(messages: &mut [Arc<Message>], out: &BTreeSet<usize>, shown: &[ShownPicture]) -> Vec<String> {
    let (mut place, mut paths) = (0, Vec::new());
    let mut taken = |picture: &Arc<Picture>| {
        let is_out = out.contains(&place);
        place += 1;
        is_out.then(|| {
            let shown = shown.iter().find(|shown| Arc::ptr_eq(&shown.picture, picture));
            let path = shown.map_or("an image", |shown| shown.path.as_str());
            paths.push(path.to_owned());
            format!("[`{path}` is not shown again: these are more images than a request may have]")
        })
    };
    for message in messages {
        // Messages that others hold as well are copied, which is rare.
        match Arc::make_mut(message) {
            Message::User(parts) => {
                for part in parts {
                    if let Part::Image(picture) = part
                        && let Some(sentence) = taken(picture)
                    {
                        *part = Part::Text(sentence);
                    }
                }
            }
            Message::Assistant(_) => {}
            Message::ToolResults(answers) => {
                for answer in answers {
                    let text = &mut answer.text;
                    answer.images.retain(|picture| {
                        let sentence = taken(picture);
                        text.extend(sentence.iter().flat_map(|sentence| ["\n", sentence]));
                        sentence.is_none()
                    });
                }
            }
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use m3_llm::ToolAnswer;

    use super::*;

    fn picture(bytes: usize) -> Arc<Picture> {
        let bytes = vec![0; bytes];
        let (sha256, changes) = (String::new(), Vec::new());
        Arc::new(Picture {
            mime_type: "image/png",
            width: 1,
            height: 1,
            sha256,
            scaled_from: None,
            changes,
            bytes,
        })
    }

    /// The task's image of 50 bytes, then pictures of 10, 20 and 30 bytes in results and messages.
    fn conversation() -> (Vec<Arc<Message>>, Arc<Picture>, Vec<ShownPicture>) {
        let task = picture(50);
        let tools = [picture(10), picture(20), picture(30)];
        let answer = |images: &[Arc<Picture>]| ToolAnswer {
            call_id: "1".to_owned(),
            name: "draw".to_owned(),
            text: "drawn".to_owned(),
            images: images.to_vec(),
            is_error: false,
        };
        let messages = [
            Message::User(vec![Part::Image(Arc::clone(&task)), Part::Text("What?".to_owned())]),
            Message::ToolResults(vec![answer(&tools[..2]), answer(&[])]),
            Message::User(vec![Part::Text("See:".to_owned()), Part::Image(Arc::clone(&tools[2]))]),
        ];
        let messages = messages.into_iter().map(Arc::new).collect();
        let shown = tools.iter().zip(["a.png", "b.png", "c.png"]);
        let shown =
            shown.map(|(picture, path)| ShownPicture { path: path.to_owned(), picture: Arc::clone(picture) });
        (messages, task, shown.collect())
    }

    #[test]
    fn the_oldest_pictures_of_tools_go_and_the_image_of_the_task_stays() {
        for (images, image_bytes, out) in [
            (4, 110, &[][..]),
            (3, 110, &["a.png"]),
            (4, 109, &["a.png"]),
            (4, 99, &["a.png", "b.png"]),
            (2, 110, &["a.png", "b.png"]),
            (4, 79, &["a.png", "b.png", "c.png"]),
            (0, 0, &["a.png", "b.png", "c.png"]),
        ] {
            let (mut messages, task, shown) = conversation();
            let limits = RequestLimits { images, image_bytes };
            assert_eq!(make_room(&mut messages, limits, Some(&task), &shown), out, "{limits:?}");
            let left = pictures(&messages);
            assert!(Arc::ptr_eq(&left[0], &task));
            assert_eq!(left.len(), 4 - out.len());
        }
    }

    #[test]
    fn a_sentence_says_which_file_is_meant() {
        let (mut messages, task, shown) = conversation();
        let limits = RequestLimits { images: 1, image_bytes: 1000 };
        make_room(&mut messages, limits, Some(&task), &shown);
        let sentence =
            |path| format!("[`{path}` is not shown again: these are more images than a request may have]");
        let Message::ToolResults(answers) = messages[1].as_ref() else { panic!() };
        assert_eq!(answers[0].text, format!("drawn\n{}\n{}", sentence("a.png"), sentence("b.png")));
        assert_eq!(answers[1].text, "drawn");
        let Message::User(parts) = messages[2].as_ref() else { panic!() };
        assert!(matches!(&parts[1], Part::Text(text) if *text == sentence("c.png")));
    }
}
