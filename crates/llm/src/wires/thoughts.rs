//! Thoughts and delimiters that servers of open models leave in the text of a reply.

use super::reading::Oddities;

const THINK: &str = "<think>";
const THINK_END: &str = "</think>";

/// Delimiters around answers of GLM-4.1V and GLM-4.5V.
const BOX: [&str; 2] = ["<|begin_of_box|>", "<|end_of_box|>"];

/// The text of a reply without the thoughts in it, and all thoughts: those from elsewhere, then those of the text.
pub(super) fn of_reply(text: &str, mut thinking: Vec<String>, oddities: &mut Oddities) -> (String, String) {
    let (text, in_text) = split(text, oddities);
    thinking.push(in_text);
    thinking.retain(|thought| !thought.is_empty());
    (text, thinking.join("\n\n"))
}

/// Removes `<think>` blocks and the delimiters of boxes from a text. Returns the rest, and the thoughts.
///
/// A closing tag alone ends thoughts that began in the prompt, as in templates of DeepSeek-R1 and Qwen3; an opening
/// tag alone counts only at the beginning, where the reply ended before the thoughts did.
fn split(text: &str, oddities: &mut Oddities) -> (String, String) {
    let (mut answer, thoughts) = without_thoughts(text, oddities);
    if BOX.iter().any(|delimiter| answer.contains(delimiter)) {
        oddities.note("the text had `<|begin_of_box|>` or `<|end_of_box|>` in it; they were taken out");
        for delimiter in BOX {
            answer = answer.replace(delimiter, "");
        }
        answer = answer.trim().to_owned();
    }
    (answer, thoughts)
}

fn without_thoughts(text: &str, oddities: &mut Oddities) -> (String, String) {
    let mut answer = String::new();
    let mut thoughts = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(THINK_END) {
        let (before, after) = (&rest[..end], &rest[end + THINK_END.len()..]);
        if let Some(start) = before.find(THINK) {
            answer.push_str(&before[..start]);
            thoughts.push(before[start + THINK.len()..].trim());
            oddities.note("the text had thoughts in `<think>`; they were taken out");
        } else {
            thoughts.push(before.trim());
            oddities
                .note("the text had a `</think>` without a `<think>`; all before it was taken as thoughts");
        }
        rest = after;
    }
    if let Some(unfinished) = rest.trim_start().strip_prefix(THINK)
        && answer.trim().is_empty()
    {
        thoughts.push(unfinished.trim());
        oddities.note("the text began with a `<think>` that never ended; all of it was taken as thoughts");
        rest = "";
    }
    if thoughts.is_empty() {
        return (text.to_owned(), String::new());
    }
    answer.push_str(rest);
    thoughts.retain(|thought| !thought.is_empty());
    (answer.trim().to_owned(), thoughts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_and_boxes_are_taken_out_of_the_text() {
        for (text, answer, thoughts, notes) in [
            ("plain ", "plain ", "", 0),
            ("<think>a\nb</think>\n\nanswer", "answer", "a\nb", 1),
            ("\n<think>\n</think>answer", "answer", "", 1),
            ("thought\n</think>\nanswer", "answer", "thought", 1),
            ("<think>cut off", "", "cut off", 1),
            ("<think>a</think><think>b", "", "a\n\nb", 2),
            ("First <think>a</think> then <think>b</think> last", "First  then  last", "a\n\nb", 1),
            ("say <think> plainly", "say <think> plainly", "", 0),
            ("<think>a <think> b</think> c", "c", "a <think> b", 1),
            ("<|begin_of_box|>{\"a\": 1}<|end_of_box|>", "{\"a\": 1}", "", 1),
            ("<think>a</think><|begin_of_box|>b<|end_of_box|>", "b", "a", 2),
            ("</think>", "", "", 1),
        ] {
            let mut oddities = Oddities::default();
            assert_eq!(split(text, &mut oddities), (answer.to_owned(), thoughts.to_owned()), "{text}");
            assert_eq!(oddities.into_list().len(), notes, "{text}");
        }
    }
}
