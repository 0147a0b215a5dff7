//! The same reply in other words, numbers and marks.

use serde_json::Value;

use crate::variants::Dice;

const BEGINNINGS: [&str; 5] = [
    "Sure! The answer is: ",
    "Here is what I have:\n\n",
    "**Answer**\n\n",
    "Based on the tools' results, ",
    "I looked it up. ",
];

const ENDS: [&str; 3] =
    ["\n\nLet me know if you need anything else!", " I hope this helps.", "\n\nIs there more that I can do?"];

/// Words that may stand for one another in these replies, with spaces around.
const SYNONYMS: [(&str, &str); 40] = [
    (" located ", " situated "),
    (" found ", " detected "),
    (" about ", " roughly "),
    (" approximately ", " about "),
    (" approx. ", " around "),
    (" shows ", " displays "),
    (" picture ", " image "),
    (" photo ", " picture "),
    (" near ", " close to "),
    (" large ", " big "),
    (" small ", " little "),
    (" price ", " cost "),
    (" total ", " overall "),
    (" current ", " present "),
    (" available ", " on offer "),
    (" saved ", " stored "),
    (" created ", " made "),
    (" rating ", " score "),
    (" wind ", " breeze "),
    (" restaurants ", " places to eat "),
    (" closest ", " nearest "),
    (" include ", " comprise "),
    (" movie ", " film "),
    (" drive ", " ride by car "),
    (" recommended ", " suggested "),
    (" is not ", " isn't "),
    (" does not ", " doesn't "),
    (" are not ", " aren't "),
    (" not found", " could not be located"),
    (" successfully", ""),
    (" with ", " having "),
    (" because ", " since "),
    (" shown ", " depicted "),
    (" red ", " crimson "),
    (" costs ", " comes to "),
    (" cost ", " come to "),
    (" says ", " reads "),
    (" most ", " the greatest number of "),
    (" identified ", " recognized "),
    (" due to ", " because of "),
];

/// Units and what they are called at length.
const UNITS: [(&str, &str); 18] = [
    ("°F", " degrees Fahrenheit"),
    ("°C", " degrees Celsius"),
    (" km", " kilometres"),
    (" mi", " miles"),
    (" mph", " miles per hour"),
    (" min", " minutes"),
    (" mg", " milligrams"),
    (" oz", " ounces"),
    (" kg", " kilograms"),
    ("%", " percent"),
    (" EUR", " euros"),
    (" m", " metres"),
    (" g", " grams"),
    (" kcal", " calories"),
    (" kWh", " kilowatt hours"),
    (" square metres", " m²"),
    (" h", " hours"),
    (" lb", " pounds"),
];

/// The reply reworded by some of the rules, or all.
pub(crate) fn reworded(reply: &str, dice: &mut Dice) -> String {
    let rules: [fn(&str, &mut Dice) -> String; 7] = [
        |text, _| json_as_list(text).unwrap_or_else(|| text.to_owned()),
        |text, _| SYNONYMS.iter().fold(text.to_owned(), |text, (word, other)| text.replace(word, other)),
        numbers,
        |text, dice| {
            format!("{}{text}{}", BEGINNINGS[dice.below(BEGINNINGS.len())], ENDS[dice.below(ENDS.len())])
        },
        labels,
        order,
        marks,
    ];
    // Half of the rules each time: three rounds have all, mostly.
    rules
        .iter()
        .fold(reply.to_owned(), |text, rule| if dice.below(2) == 0 { rule(&text, dice) } else { text })
}

/// JSON as a list of keys and values.
fn json_as_list(text: &str) -> Option<String> {
    let json: Value = serde_json::from_str(text).ok()?;
    let mut list = String::new();
    write(&json, "", 0, &mut list);
    Some(list)
}

fn write(json: &Value, key: &str, depth: usize, out: &mut String) {
    let label = key.replace('_', " ");
    let lead = format!("{}- {label}", "  ".repeat(depth));
    match json {
        Value::Object(members) => {
            if !key.is_empty() {
                out.extend([&*lead, ":\n"]);
            }
            members
                .iter()
                .for_each(|(key, member)| write(member, key, depth + usize::from(!label.is_empty()), out));
            out.push('\n');
        }
        Value::Array(items)
            if items.iter().all(|item| !item.is_object() && !item.is_array()) && !key.is_empty() =>
        {
            let items: Vec<String> = items.iter().map(plain).collect();
            out.extend([&*lead, ": ", &items.join(", "), "\n"]);
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(at, item)| write(item, &format!("{key} {}", at + 1), depth, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            out.extend([&*lead, ": ", &plain(json), "\n"]);
        }
    }
}

fn plain(json: &Value) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

/// Numbers in another form: `1,200` and `1200`, fewer digits of many, units at length, days in words.
fn numbers(text: &str, dice: &mut Dice) -> String {
    let mut out = String::new();
    let mut rest = text;
    let long_units = dice.below(2) == 0;
    while let Some(begin) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(begin);
        out.push_str(before);
        let bytes = number.as_bytes();
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let length = (0..bytes.len()).find(|&at| {
            !(is_digit(at)
                || matches!(bytes.get(at), Some(b'.' | b','))
                    && at > 0
                    && is_digit(at - 1)
                    && is_digit(at + 1))
        });
        let (number, after) = number.split_at(length.unwrap_or(number.len()));
        let is_free = out.ends_with([' ', '\n', '$', '(']) || out.is_empty();
        let ends = after.starts_with([' ', '\n', ',', ')', '°', '%', ';'])
            || after.is_empty()
            || after.starts_with('.') && !after[1..].starts_with(|c: char| c.is_alphanumeric());
        rest = after;
        if !(is_free && ends) {
            out.push_str(number);
            continue;
        }
        let sign = out.chars().next_back();
        out.push_str(&in_other_form(number, sign));
        if long_units
            && let Some((unit, long)) = UNITS.iter().find(|(unit, _)| {
                after.strip_prefix(unit).is_some_and(|rest| {
                    !rest.starts_with(char::is_alphanumeric) && !rest.starts_with(['/', '²'])
                })
            })
        {
            out.push_str(long);
            rest = &after[unit.len()..];
        }
    }
    out.push_str(rest);
    days(&out)
}

fn in_other_form(number: &str, before: Option<char>) -> String {
    let groups: Vec<&str> = number.split(',').collect();
    let is_grouped = groups.len() > 1
        && groups[1..].iter().all(|group| group.split('.').next().is_some_and(|group| group.len() == 3));
    if is_grouped && number.split('.').count() <= 2 && !groups[0].contains('.') {
        return number.replace(',', "");
    }
    match number.split_once('.') {
        Some((whole, decimals)) if decimals.len() >= 5 && whole != "0" => {
            number.parse::<f64>().map_or_else(|_| number.to_owned(), |number| format!("{number:.3}"))
        }
        // Neither a year nor the number of a house or a district.
        None if (4..=6).contains(&number.len()) && before == Some('$') && !number.starts_with('0') => {
            let (thousands, rest) = number.split_at(number.len() - 3);
            format!("{thousands},{rest}")
        }
        _ => number.to_owned(),
    }
}

/// `2025-01-03` as `January 3, 2025`.
fn days(text: &str) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let words = text.split_inclusive([' ', '\n']).map(|word| {
        let bare = word.trim_end_matches(['.', ',', ' ', '\n', ')']);
        let parts: Vec<usize> = bare.split('-').filter_map(|part| part.parse().ok()).collect();
        match parts[..] {
            [year, month, day] if bare.len() == 10 && (1..=12).contains(&month) && year > 1000 => {
                format!("{} {day}, {year}{}", MONTHS[month - 1], &word[bare.len()..])
            }
            _ => word.to_owned(),
        }
    });
    words.collect()
}

/// `- Mode: 17` as `The mode is 17.` or `17 is the mode.`
fn labels(text: &str, dice: &mut Dice) -> String {
    let is_first = dice.below(2) == 0;
    let lines = text.lines().map(|line| {
        let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
        let Some((label, value)) = rest.strip_prefix("- ").and_then(|rest| rest.split_once(": ")) else {
            return line.to_owned();
        };
        let is_short =
            label.split(' ').count() <= 4 && value.split(' ').count() <= 6 && !value.contains(". ");
        if !is_short || !label.starts_with(char::is_alphabetic) {
            return line.to_owned();
        }
        let (label, value) = (label.to_lowercase(), value.trim_end_matches('.'));
        if is_first {
            format!("{indent}The {label} is {value}.")
        } else {
            format!("{indent}{value} is the {label}.")
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Other paragraphs first, other clauses first.
fn order(text: &str, dice: &mut Dice) -> String {
    let mut paragraphs: Vec<String> = text.split("\n\n").map(reversed_lists).collect();
    if paragraphs.len() > 1 {
        let first = 1 + dice.below(paragraphs.len() - 1);
        paragraphs.rotate_left(first);
        return paragraphs.join("\n\n");
    }
    if text.contains('\n') {
        return reversed_lists(text);
    }
    let bare = text.trim_end_matches('.');
    let mut clauses: Vec<&str> = bare.split("; ").collect();
    clauses.rotate_right(1);
    format!("{}.", clauses.join("; "))
}

/// A paragraph whose list is the other way round, if it has one list at its end, without lists in it.
fn reversed_lists(paragraph: &str) -> String {
    let lines: Vec<&str> = paragraph.lines().collect();
    let begin = lines.iter().position(|line| line.starts_with("- ")).unwrap_or(lines.len());
    let (heading, items) = lines.split_at(begin);
    if items.iter().all(|line| line.starts_with("- ")) {
        return heading.iter().chain(items.iter().rev()).copied().collect::<Vec<_>>().join("\n");
    }
    paragraph.to_owned()
}

/// Lists as sentences, or lines as lists; numbers in bold.
fn marks(text: &str, dice: &mut Dice) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    match dice.below(3) {
        0 => lines()
            .map(|line| line.trim_start_matches("- ").trim_end_matches(['.', ':', ',']))
            .collect::<Vec<_>>()
            .join(". "),
        1 => {
            lines().map(|line| format!("* {}", line.trim_start_matches("- "))).collect::<Vec<_>>().join("\n")
        }
        _ => {
            let words = text.split(' ').map(|word| {
                let is_value = word.len() > 1
                    && word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '$'));
                if is_value { format!("**{word}**") } else { word.to_owned() }
            });
            words.collect::<Vec<_>>().join(" ")
        }
    }
}
