//! The report when a run has ended.

use m3_executor::TOOLS_UNREAD;
use m3_executor::run::{Price, Prices, RunEnd};
use m3_llm::{ModelName, Usage};
use m3_outcomes::Outcome;
use m3_support::text::{counted, duration, shortened, visible};

use super::RunArgs;
use crate::cli::common::{Failure, Printer, Result, code, print_rows};

/// The price of a model, by its whole name or by the provider's name for it.
pub(super) fn price(prices: &Prices, name: &ModelName) -> Option<Price> {
    prices.of(&[&name.to_string(), &name.model])
}

/// Warns, before anything is spent, that the cost will not be known.
pub(super) fn warn_of_missing_price(prices: Option<&Prices>, name: &ModelName, printer: Printer) {
    if prices.is_some_and(|prices| price(prices, name).is_none()) {
        printer.warn(&format!("the table of prices has no `{}`", shortened(&name.to_string(), 100)));
    }
}

/// Prints the table and the next command; fails if tasks failed or the run was interrupted.
pub(super) fn say(
    end: &RunEnd,
    prices: Option<&Prices>,
    name: &ModelName,
    args: &RunArgs,
    printer: Printer,
) -> Result {
    let usage = end.summary.usage.plus(end.interrupted.1);
    let cost = prices.and_then(|prices| price(prices, name)).map(|price| price.cost(usage));
    print_rows(&rows(end, cost), 1)?;
    let folder = args.out.display().to_string();
    let folder = visible(folder.trim_end_matches('/'), false);
    if end.is_interrupted {
        printer.note("interrupted; the same command continues");
        return Err(Failure::silent(code::INTERRUPTED));
    }
    if end.summary.tools_unread > 0 {
        printer.warn(&format!("in {}, {TOOLS_UNREAD}", counted(end.summary.tools_unread, "task")));
    }
    let failed = end.summary.error + end.summary.context_overflow;
    if end.summary.predictions > failed {
        printer.note(&format!("next: m3 score {folder}/predictions.json REFERENCES"));
    }
    if failed > 0 {
        let retry = if end.summary.error > 0 {
            "`--retry-failed` runs what failed again, but for prompts that the model's context does not hold"
        } else {
            "the model's context does not hold these prompts; `--compress` makes them shorter"
        };
        let message = format!(
            "{failed} of {} failed\nhint: `reason` in {folder}/predictions.json says why; {retry}",
            counted(end.summary.predictions, "task")
        );
        return Err(Failure::new(code::FAILED, message));
    }
    Ok(())
}

fn rows(end: &RunEnd, cost: Option<f64>) -> Vec<(&'static str, String)> {
    let summary = &end.summary;
    let (outcomes, usage) = (&summary.outcomes, summary.usage);
    let known = Outcome::ALL.map(Outcome::name);
    let in_order =
        known.iter().copied().chain(outcomes.keys().map(String::as_str).filter(|name| !known.contains(name)));
    let outcomes: Vec<String> = in_order
        .filter_map(|name| {
            outcomes.get(name).map(|count| format!("{count} {}", shortened(&name.replace('_', " "), 40)))
        })
        .collect();
    let mut rows = vec![
        ("tasks", summary.predictions.to_string()),
        ("answered", summary.answered.to_string()),
        ("max_steps", summary.max_steps.to_string()),
        ("budget", summary.budget.to_string()),
    ];
    if summary.context_overflow > 0 {
        rows.push(("context_overflow", summary.context_overflow.to_string()));
    }
    rows.extend([
        ("error", summary.error.to_string()),
        ("steps", summary.steps.to_string()),
        ("calls", summary.calls.to_string()),
        ("outcomes", if outcomes.is_empty() { "none".to_owned() } else { outcomes.join(", ") }),
        ("tokens", usage.in_words()),
    ]);
    let (interrupted, spent) = end.interrupted;
    if interrupted > 0 {
        let spent =
            if spent == Usage::default() { String::new() } else { format!(", tokens: {}", spent.in_words()) };
        rows.push(("interrupted", format!("{}{spent}", counted(interrupted, "task"))));
    }
    let least = if usage.plus(spent).is_partial { "at least " } else { "" };
    rows.extend(cost.map(|cost| ("cost", format!("{least}{cost:.4}"))));
    rows.push(("time", duration(end.elapsed)));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_the_price_of_its_whole_name_or_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prices.json");
        std::fs::write(
            &path,
            r#"{"gpt-5": {"input": 1, "output": 1}, "Qwen/Qwen3-VL-8B:free": {"input": 2, "output": 1},
                "openai:gpt-6": {"input": 3, "output": 1}}"#,
        )
        .unwrap();
        let prices = Prices::read(&path).unwrap();
        let input = |name| price(&prices, &ModelName::parse(name).unwrap()).map(|price| price.input);
        assert_eq!(input("openai:gpt-5"), Some(1.0));
        assert_eq!(input("openai@http://127.0.0.1:8000/v1:Qwen/Qwen3-VL-8B:free"), Some(2.0));
        assert_eq!(input("openai:gpt-6"), Some(3.0));
        assert_eq!(input("openai:other"), None);
    }
}
