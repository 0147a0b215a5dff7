//! What each reader makes of two values, without the model: which reader answers, and whether it takes them for one.

use serde_json::json;

use super::super::constants::{
    EQUIVALENT, JOINED_OTHERWISE, NOTHING, ORIGIN_SAID_ONCE, OTHER_CODE, OTHER_FORMULA, OTHER_NOTATION,
};
use super::*;

/// The kind and the score of two values of an argument of this name.
fn compared(name: &str, a: &serde_json::Value, b: &serde_json::Value) -> Option<(&'static str, f64)> {
    let context = ArgumentContext { name: Name::new(name), ..ArgumentContext::default() };
    let (there, back) = [(a, b), (b, a)].map(|(a, b)| read(&context, &Json::from(a), &Json::from(b))).into();
    assert_eq!(there.as_ref().map(|found| found.score), back.map(|found| found.score), "{name}: {a} {b}");
    there.map(|found| (found.kind.name(), found.score))
}

#[test]
fn values_in_other_writings_are_one_to_their_reader() {
    for (name, a, b, kind) in [
        ("flag", json!(true), json!("yes"), "boolean"),
        ("n", json!(5), json!("5.0"), "number"),
        ("n", json!("1,200"), json!(1200), "number"),
        ("n", json!("1½"), json!(1.5), "number"),
        ("lng", json!(179.999_999), json!(-180.0), "coordinate"),
        ("query", json!("1½ cups"), json!("1.5 cup"), "quantity"),
        ("wait", json!("1h30m"), json!("PT90M"), "quantity"),
        ("wait", json!("90 Minutes"), json!("90 minutes"), "quantity"),
        ("temperature", json!("68 °F"), json!("20 C"), "quantity"),
        ("budget", json!("€1,200"), json!("1200 EUR"), "quantity"),
        ("timeout_seconds", json!("2 min"), json!("120"), "quantity"),
        ("to_unit", json!("teaspoon"), json!("tsp"), "quantity"),
        ("country", json!("DE"), json!("Germany"), "standard"),
        ("country", json!("U.S"), json!("USA"), "standard"),
        ("company", json!("AAPL"), json!("Apple Inc."), "standard"),
        ("currency", json!("zł"), json!("PLN"), "standard"),
        ("language", json!("en_US"), json!("en-US"), "standard"),
        ("timezone", json!("Asia/Calcutta"), json!("Asia/Kolkata"), "standard"),
        ("timezone", json!("UTC+2"), json!("GMT+02:00"), "standard"),
        ("timezone", json!("Afghanistan Standard Time"), json!("UTC+4:30"), "standard"),
        ("origin", json!("LHR"), json!("Heathrow"), "standard"),
        ("color", json!("#ff0000"), json!("red"), "color"),
        ("url", json!("http://www.example.org:80/a/"), json!("example.org/a"), "url"),
        ("repo", json!("git@example.org:a/b.git"), json!("https://example.org/a/b"), "url"),
        ("date", json!("5 Mar 2024"), json!("2024-03-05"), "moment"),
        ("at", json!("2026-03-05T24:00:00Z"), json!("2026-03-06T00:00:00Z"), "moment"),
        ("start", json!("00:00:01.25"), json!("00:00:01.250"), "moment"),
        ("born", json!("12/25/99"), json!("1999-12-25"), "moment"),
        ("share", json!("0,500"), json!(0.5), "number"),
        ("since", json!(1_714_564_800), json!("2024-05-01T12:00:00Z"), "moment"),
        ("file", json!("./a//b/../c.png"), json!("a/c.png"), "path"),
        ("isbn", json!("978-3-16-148410-0"), json!("978 3 16 148410 0"), "code"),
        ("version", json!("v2.4.1"), json!("2.4.1"), "code"),
        ("value", json!("2×3"), json!("2 * 3"), "code"),
        ("ids", json!("LFMN,LFMD"), json!("lfmd, lfmn"), "code"),
        ("code", json!("CI"), json!("CIV"), "standard"),
        ("timezone", json!("UTC -12h"), json!("UTC-12"), "standard"),
        ("range", json!("at least or equal to 30"), json!("no smaller than 30"), "number"),
        ("at", json!("mid-day"), json!("12 noon"), "moment"),
        ("link", json!("https://youtu.be/aB3?si=x"), json!("https://youtube.com/watch?v=aB3"), "url"),
        ("timezone", json!("UTC±0"), json!("UTC"), "standard"),
        ("symbol", json!("BTC/USD"), json!("BTC-USD"), "code"),
        ("columns", json!("three"), json!(3), "number"),
        ("sql", json!("select  a from \"t\";"), json!("select a from 't'"), "verbatim"),
    ] {
        let (of, score) = compared(name, &a, &b).unwrap_or(("text", 0.0));
        assert!(of == kind && score >= EQUIVALENT, "{name}: {a} {b}: {of} {score}");
    }
}

#[test]
fn what_looks_alike_and_is_another_one_is_not_taken_for_it() {
    for (name, a, b, kind) in [
        ("flag", json!(true), json!("off"), "boolean"),
        // More digits than a double tells apart, in a text too.
        ("tracking", json!("9400111899223197428490"), json!("9400111899223197428491"), "number"),
        ("zip", json!("01234"), json!("1234"), "code"),
        ("lat", json!(52.1), json!(-52.1), "coordinate"),
        ("power", json!("5 mW"), json!("5 MW"), "quantity"),
        ("wait", json!("1h30m"), json!("1h31m"), "quantity"),
        ("max_distance_km", json!("5000 m"), json!("5000"), "quantity"),
        ("unit", json!("feet"), json!("meters"), "quantity"),
        ("country", json!("AT"), json!("AU"), "standard"),
        ("ticker", json!("AAPL"), json!("Microsoft"), "standard"),
        ("color", json!("#ff0000"), json!("blue"), "color"),
        ("url", json!("https://example.org/a?b=1"), json!("https://example.org/a?b=2"), "url"),
        ("url", json!("redis://example.org:6379/0"), json!("redis://example.org:6380/0"), "url"),
        ("date", json!("2024-03-05"), json!("5 April 2024"), "moment"),
        ("file", json!("a/b.png"), json!("a/c.png"), "path"),
        ("file", json!("a/b.png"), json!("b.png"), "path"),
        ("video_id", json!("dQw4w9WgXcQ"), json!("dQw4w9WgXcq"), "code"),
        ("filter", json!("age<5"), json!("age>5"), "code"),
        ("version", json!("1.9.0"), json!("1.90"), "code"),
        ("password", json!("Secret"), json!("secret"), "verbatim"),
        ("contact", json!("555 123 000"), json!("555 123 001"), "number"),
        ("start", json!("00:00:01.250"), json!("00:00:01.750"), "moment"),
        ("at", json!("2026-03-05T24:00:00Z"), json!("2026-03-05T00:00:00Z"), "moment"),
        ("at", json!("2026-03-05 24:00"), json!("2026-03-05 00:00"), "moment"),
        ("link", json!("https://bot:alpha@example.org/x"), json!("https://bot:beta@example.org/x"), "url"),
        ("link", json!("https://example.org/a%2Fb"), json!("https://example.org/a/b"), "url"),
        ("expression", json!("(a - b)"), json!("(b - a)"), "verbatim"),
        ("table_name", json!("bookings"), json!("booking"), "code"),
        ("ids", json!("LFMN,LFMD"), json!("LFMN,LFML"), "code"),
        ("id", json!("main"), json!("domain"), "code"),
        ("ids", json!("aB3dE6gH1,x"), json!("aB3dE6gh1,x"), "code"),
        ("version", json!("1.10,2.0"), json!("11.0,2.0"), "code"),
        ("ids", json!("A,A,B"), json!("A,B"), "code"),
        ("code", json!("print(a*b,c)"), json!("print(a^b,c)"), "verbatim"),
        ("cell", json!("A1:B10"), json!("B10"), "code"),
        ("id", json!("aa:bb:cc:dd:ee:ff"), json!("dd:ee:ff"), "code"),
        ("id", json!("2001:db8::1"), json!("db8::1"), "code"),
        ("id", json!("8080:443"), json!("443"), "code"),
        ("id", json!("aB3dE6gHiJk"), json!("https://www.youtube.com/watch?v=AB3DE6GHIJK"), "code"),
        ("url", json!("bank.example.com"), json!("https://evil.example/?next=bank.example.com"), "url"),
        ("version", json!("1.0.beta"), json!("beta"), "code"),
        ("symbol", json!("VOD.LON"), json!("LON"), "code"),
        ("id", json!("-120"), json!("120"), "code"),
        ("id", json!("a\u{0}b1"), json!("ab1"), "code"),
        ("id", json!("user\u{202e}1"), json!("user1"), "code"),
        ("link", json!("https://shop.example.org"), json!("example.org"), "url"),
    ] {
        let (of, score) = compared(name, &a, &b).unwrap_or(("text", 1.0));
        assert!(of == kind && score < 0.5, "{name}: {a} {b}: {of} {score}");
    }
}

/// Neither the same nor another one: the model decides by what else is known.
#[test]
fn codes_that_say_where_they_are_from_or_join_their_words_otherwise_are_in_between() {
    for (name, a, b, expected) in [
        ("doi", "10.1038/nature14539", "https://doi.org/10.1038/nature14539", ORIGIN_SAID_ONCE),
        ("ref_id", "refs/heads/main", "main", ORIGIN_SAID_ONCE),
        ("repo", "octo/app", "https://example.org/octo/app.git", ORIGIN_SAID_ONCE),
        ("table", "public.users", "users", ORIGIN_SAID_ONCE),
        ("database", "sales_db", "sales-db", JOINED_OTHERWISE),
        ("database", "sales_db2", "sales-db2", JOINED_OTHERWISE),
        ("dataset_id", "run_1_12", "run_11_2", JOINED_OTHERWISE),
    ] {
        let score = compared(name, &json!(a), &json!(b)).map(|found| found.1);
        assert_eq!(score, Some(expected), "{name}: {a} {b}");
    }
}

#[test]
fn a_day_before_its_month_or_behind_it_is_the_instant_that_fits() {
    // 3 May and 5 March 2024 in UTC.
    for seconds in [1_714_694_400, 1_709_596_800] {
        assert_eq!(compared("since", &json!("05/03/2024"), &json!(seconds)), Some(("moment", 0.8)));
    }
    assert_eq!(
        compared("since", &json!("05/03/2024"), &json!(1_714_694_400 + 86_400)),
        Some(("moment", NOTHING))
    );
}

#[test]
fn what_a_reader_cannot_read_is_left_to_text() {
    for (name, a, b) in [
        ("day", json!("7"), json!("2019-03-07")),
        ("link", json!("https://example.org/a/b"), json!("a page about eels")),
        ("domains", json!("a.example,b.example"), json!("b.example,a.example")),
        ("size", json!("M"), json!("L")),
        ("amount", json!("more than 5 or less"), json!("more than 5")),
    ] {
        assert_eq!(compared(name, &a, &b), None, "{name}: {a} {b}");
    }
    // Neither offsets nor seconds go to 99.
    for (a, b) in [("2024-01-01T00:00:00+99:99", "2024-01-01"), ("12:30:99", "12:30")] {
        let of = compared("at", &json!(a), &json!(b)).map(|found| found.0);
        assert_ne!(of, Some("moment"), "{a} {b}");
    }
}

/// Codes have writings that no reader knows, and two formulas may compute the same; what tables and calendars know is certain.
#[test]
fn another_code_is_less_certain_than_another_date_or_address() {
    for (name, a, b, kind, score) in [
        ("id", "E-20931", "X-10442", "code", OTHER_CODE),
        ("ids", "E-1,E-2", "E-1,E-3", "code", OTHER_CODE),
        ("phone", "8675309", "8675310", "code", NOTHING),
        ("expression", "5000*(1+0.035)^8", "5000*1.035^8", "code", OTHER_FORMULA),
        ("pattern", "a+b", "b+a", "verbatim", OTHER_NOTATION),
        ("expression", "a*(b+c)", "a*b+c", "verbatim", NOTHING),
        ("date", "2024-03-05", "2023-03-05", "moment", NOTHING),
        ("domains", "left-bank.example", "left-bnak.example", "url", NOTHING),
        ("file", "a/demo.mp3", "b/other.mp3", "path", NOTHING),
        ("currency", "EUR", "USD", "standard", NOTHING),
    ] {
        assert_eq!(compared(name, &json!(a), &json!(b)), Some((kind, score)), "{name}: {a} {b}");
    }
    const { assert!(NOTHING < OTHER_NOTATION && OTHER_NOTATION < OTHER_CODE && OTHER_CODE < OTHER_FORMULA) };
    assert!(compared("file", &json!("a/left.csv"), &json!("left.csv")).unwrap().1 < OTHER_FORMULA);
    assert!(compared("timestamp", &json!(1_709_546_400), &json!(1_709_550_000)).unwrap().1 < 0.1);
}

#[test]
fn choices_that_differ_in_signs_alone_are_two() {
    let schema = Json::from(&json!({"enum": ["C", "C++", "created", "-created"]}));
    let context = ArgumentContext { schema: Some(Schema::new(&schema)), ..ArgumentContext::default() };
    let text = |text: &str| Json::String(text.to_owned());
    let score = |a: &str, b: &str| read(&context, &text(a), &text(b)).map(|found| found.score).unwrap();
    assert!(score("C", "C++") < 0.5 && score("created", "-created") < 0.5);
    assert!(score("Created", "created") >= EQUIVALENT);
}
