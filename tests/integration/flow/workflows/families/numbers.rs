//! Arithmetic that goes on with what earlier calls answered.

use serde_json::json;

use super::super::plan::{Argument, named};
use super::super::scenes::Region;
use super::draft::{Draft, numbers};

/// What the receipt lists.
const ITEMS: [(&str, f64); 6] =
    [("milk", 1.19), ("bread", 2.8), ("apples", 2.49), ("cheese", 4.35), ("coffee", 6.9), ("soap", 1.27)];

/// The head of the receipt: small, so that a digit shows.
const SHOP: Region = Region { words: "the name of the shop", name: "shop", edges: [330, 40, 630, 82] };

/// The visitors of each day in the chart.
const DAYS: [(&str, f64); 7] = [
    ("Monday", 120.0),
    ("Tuesday", 180.0),
    ("Wednesday", 150.0),
    ("Thursday", 210.0),
    ("Friday", 260.0),
    ("Saturday", 400.0),
    ("Sunday", 360.0),
];

fn multiply(draft: &mut Draft<'_>, first: Argument, second: f64) -> usize {
    draft.compute("multiply", named([("firstNumber", first), ("SecondNumber", Argument::value(second))]))
}

/// Several of two things, together, and the change or the share of each person.
pub(super) fn price(draft: &mut Draft<'_>) {
    draft.plan.image = "images/receipt.png";
    let items = draft.random.some(&ITEMS, 2);
    let counts = [draft.random.within(2, 5), draft.random.within(6, 9)];
    let costs: Vec<usize> = items
        .iter()
        .zip(counts)
        .map(|((_, price), count)| multiply(draft, Argument::value(*price), count as f64))
        .collect();
    draft.plan.step();
    let [first, second] = [costs[0], costs[1]].map(|cost| Argument::answer(cost, ""));
    let total = draft.compute("sum", named([("numbers", Argument::List(vec![first, second]))]));
    draft.plan.step();
    let (what, paid) = (Argument::answer(total, ""), draft.random.within(10, 20) * 10);
    draft.say(&format!(
        "I buy the {} {} times and the {} {} times.",
        items[0].0, counts[0], items[1].0, counts[1]
    ));
    if draft.random.chance(0.5) {
        draft.say(&format!("What do I get back from {paid}?"));
        draft.compute("subtract", named([("minuend", Argument::value(paid)), ("subtrahend", what)]));
    } else {
        let people = draft.random.within(3, 7);
        draft.say(&format!("What does each of {people} people pay, to the nearest whole number?"));
        let share =
            draft.compute("division", named([("numerator", what), ("denominator", Argument::value(people))]));
        draft.plan.step();
        draft.compute("round", named([("number", Argument::answer(share, ""))]));
    }
}

/// A sum, and a number made of it, written on a part of the picture.
pub(super) fn written_number(draft: &mut Draft<'_>) {
    draft.plan.image = "images/receipt.png";
    let items = draft.random.some(&ITEMS, 3);
    let prices: Vec<f64> = items.iter().map(|(_, price)| *price).collect();
    let total = draft.compute("sum", named([("numbers", numbers(&prices))]));
    draft.plan.step();
    let factor = *draft.random.one(&[1.19, 0.9, 1.07]);
    let taxed = multiply(draft, Argument::answer(total, ""), factor);
    draft.plan.step();
    let names: Vec<&str> = items.iter().map(|(name, _)| *name).collect();
    draft.say(&format!(
        "Add up {}, and multiply by {factor}. Then cut out the name of the shop, and write on it the sum in red and, to the \
         right of it, the product in blue.",
        names.join(", ")
    ));
    let shop = draft.cut_out(&SHOP);
    draft.plan.step();
    let text = |call, x: i64, color: [i64; 3]| {
        Argument::Object(named([
            ("text", Argument::Text(vec![Argument::answer(call, "")])),
            ("x", Argument::value(x)),
            ("y", Argument::value(32)),
            ("color", Argument::value(json!(color))),
            ("thickness", Argument::value(2)),
        ]))
    };
    let output = draft.result("with-sum");
    draft.plan.call(
        "image/draw_texts",
        named([
            ("input_path", shop.file),
            ("output_path", Argument::Path(output)),
            ("texts", Argument::List(vec![text(total, 4, [0, 0, 255]), text(taxed, 130, [255, 0, 0])])),
        ]),
    );
}

/// Two means, and how they compare.
pub(super) fn compare(draft: &mut Draft<'_>) {
    draft.plan.image = "images/chart.png";
    let days = draft.random.some(&DAYS, 5);
    let tool = *draft.random.one(&["mean", "sum"]);
    let halves: Vec<usize> = [&days[..3], &days[3..]]
        .into_iter()
        .map(|days| {
            let values: Vec<f64> = days.iter().map(|(_, visitors)| *visitors).collect();
            draft.compute(tool, named([("numbers", numbers(&values))]))
        })
        .collect();
    draft.plan.step();
    let listed = |days: &[(&str, f64)]| days.iter().map(|(day, _)| *day).collect::<Vec<_>>().join(", ");
    draft.say(&format!(
        "Take the {tool} of the visitors on {} and that on {}.",
        listed(&days[..3]),
        listed(&days[3..])
    ));
    let [first, second] = [halves[0], halves[1]].map(|half| Argument::answer(half, ""));
    if draft.random.chance(0.5) {
        draft.say("How much larger is the first than the second?");
        draft.compute("subtract", named([("minuend", first), ("subtrahend", second)]));
    } else {
        draft.say("How many hundredths of the second is the first?");
        let ratio = draft.compute("division", named([("numerator", first), ("denominator", second)]));
        draft.plan.step();
        multiply(draft, Argument::answer(ratio, ""), 100.0);
    }
}
