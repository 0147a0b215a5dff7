//! Agreement by hand: what is the same, what is not, and texts that nobody would write.

use proptest::prelude::*;

use super::{AnswerAgreement, answer_agreement};

fn agreement(reply: &str, reference: &str) -> AnswerAgreement {
    answer_agreement(Some(reply), reference, None)
}

fn score(reply: &str, reference: &str) -> Option<f64> {
    agreement(reply, reference).score
}

/// The example of docs/answers.md, by hand: of three values of which one is given two are there, (1 + 0.25) / 2.25, halved by the
/// contradiction.
#[test]
fn the_agreement_is_that_of_the_document() {
    let reference = "Lake Como is 12.4 km away; the ride takes 25 minutes.";
    let question = Some("How far is Lake Como, and how long does it take?");
    let of = |reply| answer_agreement(Some(reply), reference, question);
    assert_eq!(of("It takes 25 min to Lake Como, which is 12,400 m away.").score, Some(1.0));
    let wrong = of("Lake Como is 14.2 km away; the ride takes 25 minutes.");
    assert_eq!(wrong.score, Some(1.25 / 2.25 / 2.0));
    assert_eq!(wrong.reasons, ["says 14.2 km, not 12.4 km"]);
    assert_eq!(of("I am sorry, I could not find the lake.").score, Some(0.0));
}

#[test]
fn the_same_value_may_be_written_in_other_ways() {
    let same = [
        ("1,200 people came", "1200 people came"),
        ("1.2 k people came", "1200 people came"),
        ("1.2 million people", "1,200,000 people"),
        ("twelve hundred people", "1200 people"),
        ("It has 12.41 km.", "It has 12.4 km."),
        ("It has 12 km.", "It has 12.4 km."),
        ("It has 12,400 metres.", "It has 12.4 km."),
        ("It is 7.7 miles long.", "It is 12.4 km long."),
        ("Today 59°F.", "Today 15 degrees Celsius."),
        ("a quarter of an hour or 15 min", "0.25 hours"),
        ("25 percent", "25%"),
        ("0.25 of them", "25 % of them"),
        ("$15.33", "15.33 USD"),
        ("on January 3, 2025", "on 2025-01-03"),
        ("on 3 Jan 2025", "on January 3rd, 2025"),
        ("at 4:20 pm", "at 16:20"),
        ("at twenty past four", "at 4:20"),
        ("at a quarter to five", "at 16:45"),
        ("between 200 and 400 mg", "200–400 mg"),
        ("code hb2044-7719 ex", "code HB-2044-7719 EX"),
        ("see https://example.org/a/", "see http://www.example.org/a"),
        ("it is in out/moon.png", "it is in moon.png"),
        ("Sure! The answer is: **Zürich**", "Zurich"),
        ("The badges are yellow.", "a yellow badge"),
        ("Yes, it does.", "Yes."),
    ];
    let wrong: Vec<_> =
        same.iter().filter(|(reply, reference)| score(reply, reference) != Some(1.0)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn another_value_is_not_the_same() {
    let different = [
        ("1,200 people came", "1,300 people came"),
        ("It has 12.5 km.", "It has 12.4 km."),
        ("It has 3 km.", "It has 2.5 km."),
        ("It has 12.4 kg.", "It has 12.4 km."),
        ("It has 12.4 miles.", "It has 12.4 km."),
        ("5.64 USD", "5.64 EUR"),
        ("on January 4, 2025", "on 2025-01-03"),
        ("at 4:20 am", "at 16:20"),
        ("code HB-2044-7791", "code HB-2044-7719"),
        ("it is in moons.png", "it is in moon.png"),
        ("The triangle is green.", "Yellow."),
        ("No.", "Yes."),
        ("No, it does not.", "Yes, it does."),
        ("It isn't 12.4 km.", "It is 12.4 km."),
        ("Ada has 5, Linus 3.", "Ada has 3, Linus 5."),
        ("I was unable to open the file.", "It has 12.4 km."),
        ("  ", "It has 12.4 km."),
    ];
    for (reply, reference) in different {
        assert!(
            score(reply, reference).is_some_and(|score| score <= 0.5),
            "{reply} / {reference}: {:?}",
            agreement(reply, reference)
        );
    }
    assert_eq!(answer_agreement(None, "Yes.", None).score, Some(0.0));
}

#[test]
fn nothing_is_said_of_prose_and_of_nothing() {
    let reference = "Faces and number plate are blurred, the picture is grey.";
    assert_eq!(score("I made the faces unreadable and took the colours away.", reference), None);
    assert_eq!(score("faces and the number plate are blurred; the picture is grey", reference), Some(1.0));
    assert_eq!(score("Faces and number plate are not blurred, the picture is grey.", reference), Some(0.0));
    assert_eq!(score("Yes.", " "), None);
    assert_eq!(score("", ""), None);
}

/// `Done.` beside `Done.` says nothing of the job.
#[test]
fn that_it_was_done_says_nothing_but_its_contrary_does() {
    for reference in ["Done.", "OK", "The task is complete.", "The image has been saved."] {
        for reply in ["Done.", "The picture is ready", "All done: out.png", "5"] {
            assert_eq!(score(reply, reference), None, "{reply} {reference}");
        }
        for reply in ["I could not do it.", "The picture was not saved.", "Nothing was done."] {
            assert_eq!(score(reply, reference), Some(0.0), "{reply} {reference}");
        }
    }
    assert_eq!(score("Done: 5 trees", "Done: 5 trees"), Some(1.0));
    assert_eq!(score("No.", "Yes, done."), Some(0.0));
}

/// A reply of 10 MB is read up to its 64th KiB, and what follows makes no difference.
#[test]
fn only_the_beginning_of_a_long_reply_is_read() {
    let begin = "It is 12.4 km long. ";
    let long = format!("{begin}{}", "1 a B_c \"d\" not; ".repeat(700_000));
    assert_eq!(score(&long, begin), Some(1.0));
    assert!(score(begin, &long).is_some());
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(reply in ".{0,80}", reference in ".{0,80}", question in ".{0,20}") {
        let agreement = answer_agreement(Some(&reply), &reference, Some(&question));
        prop_assert!(agreement.score.is_none_or(|score| (0.0..=1.0).contains(&score)));
    }

    /// Signs that numbers, codes and quotations are made of, in whatever order.
    #[test]
    fn no_signs_make_it_panic(reply in "[0-9a-eE.,:;/x$€%°\"'_# \n{}()²ßé–-]{0,60}", reference in "[0-9a-eA-D.,:/$%°\"_ \n{}İ-]{0,60}") {
        let agreement = answer_agreement(Some(&reply), &reference, None);
        prop_assert!(agreement.score.is_none_or(|score| (0.0..=1.0).contains(&score)));
    }

    #[test]
    fn a_text_agrees_with_itself(text in "[a-zA-Z0-9., \n-]{1,80}") {
        let score = score(&text, &text);
        prop_assert!(score.is_none() || score == Some(1.0));
    }
}

#[test]
fn signs_without_end_are_one_and_endless_numbers_are_none() {
    for reply in ["$".repeat(65_000) + "1", "1x".repeat(30_000), "1%".repeat(30_000), "-$".repeat(30_000)] {
        let _ = answer_agreement(Some(&reply), "It is 12.4 km away.", None);
    }
    assert_eq!(answer_agreement(Some("1e308 trillion"), "It is 12.4 km away.", None).score, Some(0.0));
}

#[test]
fn letters_of_choices_are_found_where_they_stand() {
    for (reply, score) in [
        ("B", 1.0),
        ("<Answer>B<Answer>", 1.0),
        ("The answer is (B).", 1.0),
        ("B. 22.87%", 1.0),
        ("A look at both shows: **B**", 1.0),
        ("I think the correct answer would be option B, not A", 1.0),
        ("<Answer>A<Answer>", 0.0),
        ("The answer is (C), not B", 0.0),
        ("The answer is C because B is too small", 0.0),
        ("C is right; B is wrong", 0.0),
        ("It is not B", 0.0),
        ("Answer: A or B", 0.0),
        ("A is right, not B", 0.0),
        ("I am sure: B", 1.0),
        ("I considered A, but the answer is B.", 1.0),
        ("The answer is C. A map of B shows it.", 0.0),
        ("22.87%", 0.0),
    ] {
        assert_eq!(answer_agreement(Some(reply), "B", None).score, Some(score), "{reply}");
    }
    assert_eq!(answer_agreement(Some("<Answer>A<Answer>"), "A", None).score, Some(1.0));
}
