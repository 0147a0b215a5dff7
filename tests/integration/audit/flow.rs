//! What both trajectories do, in audits: who made what a call reads, results beside each other, what is left behind.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};

use super::{GOOD, audit};
use crate::support::{Folder, m3, report, root, stdout};

/// A picture of 20 × 10 pixels, of which as many columns as are asked for are red.
fn picture(red: u32) -> Vec<u8> {
    let image = RgbImage::from_fn(20, 10, |x, _| if x < red { Rgb([200, 0, 0]) } else { Rgb([9, 9, 9]) });
    let mut bytes = std::io::Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}

fn sent(red: u32) -> Value {
    json!({"type": "image", "mimeType": "image/png", "data": STANDARD.encode(picture(red))})
}

fn file(path: &str) -> Value {
    json!({"type": "image", "mimeType": "image/png", "file": path})
}

fn call(tool: &str, arguments: &Value, content: &Value) -> Value {
    json!({"name": tool, "arguments": arguments, "result": {"content": content}})
}

fn trajectory(steps: &[Vec<Value>]) -> Value {
    let steps: Vec<Value> = steps.iter().map(|calls| json!({"calls": calls})).collect();
    json!([{"id": "1", "image": "images/plan.png", "question": "Turn the plan.", "steps": steps}])
}

/// A crop, and a rotation of what it made; `out` names it, `content` is what the rotation returned.
fn turned(out: &str, content: &Value) -> Value {
    let crop = json!({"input_path": "images/plan.png", "x": 3, "output_path": out});
    let rotate = json!({"input_path": out, "angle": 90, "output_path": "upright.png"});
    let cropped = call("image/crop", &crop, &json!([sent(5)]));
    trajectory(&[vec![cropped], vec![call("image/rotate", &rotate, content)]])
}

/// The audit of a prediction at the terminal.
fn printed(folder: &Folder, prediction: &Value, reference: &Value, options: &[&str]) -> Option<String> {
    let files = [folder.json("predictions.json", prediction), folder.json("references.json", reference)];
    Some(stdout(m3()?.args(["audit", "-q"]).args(files).args(options)))
}

/// Likewise as a page.
fn page(folder: &Folder, prediction: &Value, reference: &Value) -> Option<String> {
    let page = folder.path().join("page.html");
    printed(folder, prediction, reference, &["--html", page.to_str().unwrap()])?;
    Some(std::fs::read_to_string(page).unwrap())
}

#[test]
fn the_terminal_says_who_made_what() {
    let Some(printed) = audit(GOOD, &["--id", "00020001", "--id", "00050000"]) else { return };
    for said in [
        "reads the task's picture",
        "makes living-room.png",
        "results: 10.0 % of the pixels differ",
        "left behind, artifact agreement 0.9993",
        "2.3 % of the pixels differ",
    ] {
        assert!(printed.contains(said), "{said}: {printed}");
    }
    for width in [80, 140] {
        let Some(printed) = audit(GOOD, &["--worst", "100", "--width", &width.to_string()]) else { return };
        let longest = printed.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(width), "{longest:?}");
    }
}

/// By hand: 3 of 20 columns are red on one side alone, which is 15 % of the pixels.
#[test]
fn results_are_compared_in_words() {
    let folder = Folder::new();
    let reference = turned("cut.png", &json!([sent(5)]));
    let Some(same) = printed(&folder, &turned("step1.png", &json!([sent(5)])), &reference, &[]) else {
        return;
    };
    assert!(
        same.contains("reads cut.png, which 1.1 made") && same.contains("reads step1.png, which"),
        "{same}"
    );
    assert!(same.contains("the same arguments and the same results: 2 pairs of calls"), "{same}");
    assert!(same.contains("upright.png of 2.1 -> upright.png of 2.1: the same pixels"), "{same}");
    let other = printed(&folder, &turned("step1.png", &json!([sent(8)])), &reference, &[]).unwrap();
    assert!(other.contains("results: 15.0 % of the pixels differ"), "{other}");
    let text = |words: &str| turned("cut.png", &json!([{"type": "text", "text": words}]));
    let differs = printed(&folder, &text("3 rooms"), &text("4 rooms"), &[]).unwrap();
    assert!(differs.contains("    results differ\n"), "{differs}");
}

#[test]
fn what_its_own_step_makes_may_not_have_been_there() {
    let folder = Folder::new();
    let reference = turned("cut.png", &json!([sent(5)]));
    let mut hasty = reference.clone();
    let calls = json!([reference[0]["steps"][0]["calls"][0], reference[0]["steps"][1]["calls"][0]]);
    hasty[0]["steps"] = json!([{"calls": calls}]);
    let Some(printed) = printed(&folder, &hasty, &reference, &["--width", "140"]) else { return };
    assert!(printed.contains("in the same step: it may not"), "{printed}");
}

/// Without files that calls make and without results nothing is said.
#[test]
fn audits_without_flow_stay_as_they_were() {
    let folder = Folder::new();
    let plain = json!([{"id": "1", "image": "images/plan.png", "steps": [{"calls": [
        {"name": "ocr/read", "arguments": {"input_path": "images/plan.png"}}]}]}]);
    let Some(printed) = printed(&folder, &plain, &plain, &[]) else { return };
    assert!(!printed.contains("reads") && !printed.contains("left behind"), "{printed}");
    let files = ["predictions.json", "references.json"].map(|name| folder.path().join(name));
    let Some(mut m3) = m3() else { return };
    assert!(report(m3.arg("audit").args(files))["trajectories"][0].get("flow").is_none());
}

#[test]
fn a_page_has_both_pictures_and_their_difference() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("results")).unwrap();
    folder.write("results/kept.png", picture(8));
    let reference = turned("cut.png", &json!([sent(5)]));
    let Some(page) = page(&folder, &turned("step1.png", &json!([file("results/kept.png")])), &reference)
    else {
        return;
    };
    assert!(page.contains("15.0 % of the pixels differ") && page.contains("\"difference\":{\"name\":\"p"));
    // One for 5 red columns, which three results have, one for 8, and where they differ.
    assert_eq!(page.matches("\"data:image/").count(), 3);
}

/// Paths that lead out, files that are not kept as results, far too much of something, and bombs.
#[test]
fn hostile_results_show_nothing_and_stay_small() {
    let folder = Folder::new();
    folder.write("secret.png", std::fs::read(root().join("images/clock.png")).unwrap());
    std::fs::create_dir(folder.path().join("results")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("results/link.png")).unwrap();
    // 30,000 × 30,000 pixels, as the header says.
    let mut bomb = picture(0);
    bomb[16..24].copy_from_slice(&[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]);
    let huge = "A".repeat(80 << 20);
    let content = json!([
        file("../../etc/passwd"), file("/etc/passwd"), file("results/../secret.png"), file("secret.png"),
        file("results/link.png"),
        {"type": "image", "mimeType": "image/png", "data": STANDARD.encode(bomb)},
        {"type": "image", "mimeType": "image/png", "data": huge},
        {"type": "text", "text": format!("<script>alert(1)</script>\u{1b}[2J\u{202e}{}", "x".repeat(1 << 20))},
    ]);
    let reference = turned("cut.png", &json!([sent(5)]));
    let mut prediction = turned("<img src=x>\u{1b}[2J.png", &content);
    prediction[0]["steps"][0]["calls"][0]["result"] = json!({"content": content});
    let Some(page) = page(&folder, &prediction, &reference) else { return };
    assert!(page.len() < 2 << 20, "{}", page.len());
    assert!(!page.contains("root:") && !page.contains("<script>alert") && !page.contains("<img src=x"));
    assert!(!page.contains(['\u{1b}', '\u{202e}']));
    // The references' own picture alone.
    assert_eq!(page.matches("\"data:image/").count(), 1);
    let terminal = printed(&folder, &prediction, &reference, &[]).unwrap();
    assert!(!terminal.contains(['\u{1b}', '\u{202e}']), "{terminal}");
    for line in terminal.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// Two rotations that differ only in which crop they turn, called in the other order: the alignment pairs them by their texts.
#[test]
fn who_is_compared_with_whom_is_said_where_it_is_not_the_alignment() {
    let folder = Folder::new();
    let made = |names: [&str; 2], turned: [usize; 2]| {
        let crop = |at: usize| {
            json!({"name": "image/crop", "arguments": {"input_path": "images/plan.png",
            "x1": 10 + 300 * at, "y1": 20, "x2": 200 + 300 * at, "y2": 90, "output_path": names[at]}})
        };
        let rotate = |at: usize| {
            json!({"name": "image/rotate",
            "arguments": {"input_path": names[at], "angle": 90}})
        };
        let steps = json!([{"calls": [crop(0), crop(1)]}, {"calls": [rotate(turned[0]), rotate(turned[1])]}]);
        json!([{"id": "1", "image": "images/plan.png", "steps": steps}])
    };
    let reference = made(["left.png", "right.png"], [0, 1]);
    let prediction = made(["right.png", "left.png"], [1, 0]);
    let Some(printed) = printed(&folder, &prediction, &reference, &[]) else { return };
    assert!(printed.contains("arguments compared with 2."), "{printed}");
    assert!(printed.contains("the alignment has 2."), "{printed}");
}

/// Nobody asks for what the other asks for: then the alignment's pairs say most.
#[test]
fn equally_bad_pairs_stay_as_aligned() {
    let folder = Folder::new();
    let searches = |queries: [&str; 2]| {
        let call = |query: &str| json!({"name": "web/search", "arguments": {"query": query}});
        json!([{"id": "1", "steps": [{"calls": queries.map(call)}]}])
    };
    let reference = searches(["Cristiano Ronaldo goals", "Lionel Messi goals"]);
    let prediction = searches(["Neymar goals", "Mbappe goals"]);
    let Some(printed) = printed(&folder, &prediction, &reference, &[]) else { return };
    assert!(!printed.contains("compared with"), "{printed}");
}
