//! Properties of every figure: valid XML, text that does not overlap and stays inside, sizes, and the look of small
//! figures. The places of text are those that usvg computes, not those of the layout code.

use proptest::prelude::*;
use resvg::tiny_skia::{Pixmap, PremultipliedColorU8, Rect};
use resvg::usvg::{Group, Node, TextChunk, Tree};

use super::*;

/// Names that would act on XML or on the text around them if they could.
const HOSTILE: [&str; 12] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "]]>&amp;&#0;<!--",
    "\u{0}\u{1}\u{b}\u{1b}[31mred\u{7f}\u{9b}",
    "\u{fffe}\u{ffff}\u{1fffe}",
    "\u{202e}gnitset\u{202c}\u{2066}\u{200f}",
    "Z\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}algo",
    "مرحبا بالعالم שלום",
    "模型名称很长很长很长很长很长很长很长很长很长很长很长",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "",
    "   \n\t\r ",
];

const STRANGE: [f64; 8] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300, f64::MIN_POSITIVE, -0.0, 1.000_000_1];

/// A name that is often too long for its column.
fn name(index: usize) -> String {
    format!("model {index} {}", "with a long name ".repeat(index % 5))
}

/// A value in [0, 1) that looks random.
fn value(index: usize) -> f64 {
    (index as f64 * 0.618_034).fract()
}

fn leaderboard(names: &[String], values: impl Fn(usize) -> f64) -> String {
    let bar = |(index, name): (usize, &String)| {
        let value = values(index);
        Bar { name: name.clone(), value, interval: (index % 3 > 0).then_some((value - 0.04, value + 0.05)) }
    };
    let bars = names.iter().enumerate().map(bar).collect();
    LeaderboardBars { title: "Leaderboard".to_owned(), axis: "average score".to_owned(), bars }.to_svg()
}

fn by_task(models: &[String], tasks: &[String], values: impl Fn(usize) -> f64) -> String {
    let values = |task: usize| {
        let value =
            |model: usize| (!(task + model).is_multiple_of(7)).then(|| values(task * models.len() + model));
        (0..models.len()).map(value).collect()
    };
    let task = |(index, name): (usize, &String)| TaskValues { name: name.clone(), values: values(index) };
    let tasks = tasks.iter().enumerate().map(task).collect();
    let title = "Average by type of task".to_owned();
    MetricByTask { title, axis: "average score".to_owned(), models: models.to_vec(), tasks }.to_svg()
}

fn outcomes(models: &[String], categories: &[String], values: impl Fn(usize) -> f64) -> String {
    let amounts =
        |model: usize| (0..categories.len()).map(|i| values(model * categories.len() + i)).collect();
    let model =
        |(index, name): (usize, &String)| ModelOutcomes { name: name.clone(), amounts: amounts(index) };
    let models = models.iter().enumerate().map(model).collect();
    let (title, axis) = ("Outcomes of calls".to_owned(), "share of calls".to_owned());
    Outcomes { title, axis, categories: categories.to_vec(), models }.to_svg()
}

fn histogram(bins: u64, weak_threshold: f64, strong_threshold: f64) -> String {
    let bin = |i: u64| SimilarityBin {
        matched: if i * 10 > bins * 6 { i * i * 7 } else { 0 },
        unmatched: (bins - i) * 11,
    };
    let (title, axis) = ("Similarities".to_owned(), "similarity".to_owned());
    SimilarityHistogram { title, axis, bins: (0..bins).map(bin).collect(), weak_threshold, strong_threshold }
        .to_svg()
}

fn success(names: &[String], values: impl Fn(usize) -> f64) -> String {
    let bar = |(index, name): (usize, &String)| AreaBar {
        name: name.clone(),
        area: values(index),
        interval: Some((values(index) - 0.04, values(index) + 0.05)),
        within_tasks: values(index + 1),
    };
    let point = |index: usize| ReliabilityPoint {
        expected: values(index),
        succeeded: values(index + 2),
        trials: index as u64,
    };
    let title = names.first().cloned().unwrap_or_default();
    let bars = names.iter().enumerate().map(bar).collect();
    let curve =
        ReliabilityCurve { title: title.clone(), points: (0..names.len().min(10)).map(point).collect() };
    SuccessAreas { title, bars, curve: (names.len() != 1).then_some(curve) }.to_svg()
}

fn tree(svg: &str) -> Tree {
    Tree::from_str(svg, &png::options()).unwrap_or_else(|error| panic!("{error}: {svg}"))
}

/// The boxes of all texts, with what the texts say.
fn text_boxes(group: &Group, boxes: &mut Vec<(String, Rect)>) {
    for node in group.children() {
        match node {
            Node::Group(group) => text_boxes(group, boxes),
            Node::Text(text) => {
                let content = text.chunks().iter().map(TextChunk::text).collect();
                boxes.push((content, text.abs_bounding_box()));
            }
            _ => {}
        }
    }
}

/// Panics unless all text lies inside the picture and apart from other text.
fn assert_legible(svg: &str) {
    let tree = tree(svg);
    let (width, height) = (tree.size().width(), tree.size().height());
    let mut boxes = Vec::new();
    text_boxes(tree.root(), &mut boxes);
    assert!(!boxes.is_empty());
    for (content, place) in &boxes {
        let is_inside =
            place.left() >= 0.0 && place.top() >= 0.0 && place.right() <= width && place.bottom() <= height;
        assert!(is_inside, "{content:?} at {place:?} of {width} x {height}");
    }
    for (i, (content, place)) in boxes.iter().enumerate() {
        for (other_content, other) in &boxes[i + 1..] {
            let is_apart = place.right() <= other.left()
                || other.right() <= place.left()
                || place.bottom() <= other.top()
                || other.bottom() <= place.top();
            assert!(is_apart, "{content:?} at {place:?} meets {other_content:?} at {other:?}");
        }
    }
}

#[test]
fn text_lies_apart() {
    for models in [0, 1, 2, 14, 60] {
        let names: Vec<String> = (0..models).map(name).collect();
        assert_legible(&leaderboard(&names, value));
        assert_legible(&success(&names, value));
        for others in [0, 1, 5, 25] {
            let others: Vec<String> = (0..others).map(|i| name(i).replace("model", "type")).collect();
            assert_legible(&by_task(&names, &others, value));
            assert_legible(&outcomes(&names, &others, value));
        }
    }
    let thresholds = [(0.6, 0.8), (0.79, 0.8), (0.8, 0.6), (0.0, 1.0), (0.02, 0.03), (-5.0, 7.0)];
    for (weak, strong) in thresholds {
        for bins in [0, 1, 20, 1_000] {
            assert_legible(&histogram(bins, weak, strong));
        }
        let marks = [("recommended", weak, strong), ("default", 0.6, 0.8), ("third", 0.61, 0.79)];
        let map = AgreementMap {
            title: "Agreement".to_owned(),
            cells: vec![(0.2, 0.4, 0.5), (0.6, 0.8, 0.9)],
            step: 0.02,
            marks: marks.map(|(name, weak, strong)| (name.to_owned(), weak, strong)).to_vec(),
        };
        assert_legible(&map.to_svg());
    }
}

#[test]
fn hostile_names_are_text() {
    let names = HOSTILE.map(str::to_owned).to_vec();
    let figures = [
        leaderboard(&names, value),
        by_task(&names, &names, value),
        outcomes(&names, &names, value),
        success(&names, value),
        leaderboard(&["x".repeat(10_000_000)], value),
    ];
    for svg in figures {
        assert_legible(&svg);
        assert!(!svg.contains("<script") && !svg.contains("<img") && !svg.contains('\u{202e}'), "{svg}");
        assert!(svg.len() < 200_000, "{}", svg.len());
    }
}

#[test]
fn strange_numbers_do_not_break_the_picture() {
    let names: Vec<String> = (0..STRANGE.len() * 2).map(name).collect();
    let strange = |index: usize| STRANGE[index % STRANGE.len()];
    let mut figures = vec![
        leaderboard(&names, strange),
        by_task(&names, &names, strange),
        outcomes(&names, &names[..5], strange),
        success(&names, strange),
    ];
    figures.extend(STRANGE.map(|weak| histogram(20, weak, 0.8)));
    figures.extend(STRANGE.map(|strong| histogram(20, 0.6, strong)));
    for svg in figures {
        assert_legible(&svg);
        assert!(!svg.contains("NaN") && !svg.contains("\"inf"), "{svg}");
        to_png(&svg, 0.5).unwrap();
    }
}

#[test]
fn rows_past_the_limit_are_counted() {
    let names: Vec<String> = (0..MAX_ROWS + 3).map(name).collect();
    let figures = [
        leaderboard(&names, value),
        by_task(&names[..2], &names, value),
        outcomes(&names, &names[..2], value),
        success(&names, value),
    ];
    for svg in figures {
        let places = tree(&svg).size();
        assert!(svg.contains("3 are left out."));
        assert!(places.height() < 16_000.0, "{}", places.height());
    }
    let svg = by_task(&names[..70], &names[..1], value);
    assert!(svg.contains("The first 64 models are shown, 6 are left out."));
    assert_legible(&svg);
}

#[test]
fn a_png_is_as_large_as_its_svg() {
    let svg = leaderboard(&["one".to_owned(), "two".to_owned()], value);
    let height = tree(&svg).size().to_int_size().height();
    let pixmap = Pixmap::decode_png(&to_png(&svg, 2.0).unwrap()).unwrap();
    assert_eq!((pixmap.width(), pixmap.height()), (1_600, 2 * height));
    assert!(pixmap.pixels().iter().all(PremultipliedColorU8::is_opaque), "the background is white");
}

#[test]
fn no_text_is_small() {
    let names: Vec<String> = (0..3).map(name).collect();
    let figures = [
        leaderboard(&names, value),
        by_task(&names, &names, value),
        outcomes(&names, &names, value),
        histogram(20, 0.6, 0.8),
        success(&names, value),
    ];
    for svg in figures {
        let sizes = svg.split("font-size=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        assert!(sizes.map(|size| size.parse::<f64>().unwrap()).all(|size| size >= 11.0));
    }
}

#[test]
fn small_figures_look_like_this() {
    let names = ["GPT-5", "Grok 4"].map(str::to_owned);
    let categories = ["successful", "not found"].map(str::to_owned);
    insta::assert_snapshot!("leaderboard", leaderboard(&names, value));
    insta::assert_snapshot!("by_task", by_task(&names, &["Fish".to_owned(), "Drug".to_owned()], value));
    insta::assert_snapshot!("outcomes", outcomes(&names, &categories, |index| [0.9, 0.1, 3.0, 1.0][index]));
    insta::assert_snapshot!("histogram", histogram(5, 0.6, 0.8));
    insta::assert_snapshot!("success", success(&names, value));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_names_and_numbers_are_legible(
        rows in prop::collection::vec((any::<String>(), any::<f64>(), any::<Option<(f64, f64)>>()), 0..6),
        title in any::<String>(),
        others in prop::collection::vec(any::<String>(), 0..10),
    ) {
        let values = |index: usize| rows.get(index % rows.len().max(1)).map_or(0.0, |row| row.1);
        let names: Vec<String> = rows.iter().map(|row| row.0.clone()).collect();
        let bars = rows.iter().map(|row| Bar { name: row.0.clone(), value: row.1, interval: row.2 }).collect();
        assert_legible(&LeaderboardBars { title: title.clone(), axis: title, bars }.to_svg());
        assert_legible(&by_task(&others, &names, values));
        assert_legible(&outcomes(&names, &others, values));
        assert_legible(&success(&names, values));
    }

    #[test]
    fn names_are_shortened_to_their_limit(name in any::<String>(), limit in 20.0..400.0) {
        prop_assert!(text::width(&text::fitted(&name, 12.0, limit), 12.0) <= limit + 1e-6);
    }
}
