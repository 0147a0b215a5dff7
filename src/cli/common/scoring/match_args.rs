//! `--match`: whether trajectories pass when compared with their references, as `agentevals` defines it.

use std::collections::BTreeMap;

use clap::Args;
use m3_score::{ArgumentMode, ArgumentRule, MatchMode, MatchOptions};
use m3_support::names::nearest;
use m3_support::text::shortened;

use crate::cli::common::printer::Printer;

/// The options of `--match`.
#[derive(Debug, Args)]
pub(crate) struct MatchArgs {
    /// Say for each trajectory whether it passes when compared with its reference, as agentevals does; changes no other
    /// number (docs/metrics.md)
    #[arg(id = "match", long = "match", value_name = "MODE", value_enum)]
    mode: Option<MatchMode>,
    /// Which arguments calls must share to be the same [default: exact]
    #[arg(id = "match_args", long = "match-args", value_name = "MODE", value_enum, requires = "match")]
    arguments: Option<ArgumentMode>,
    /// Another mode for the calls of a tool, or the arguments that count, such as image/crop=ignore or
    /// map/find=place.city,limit; repeatable
    #[arg(
        id = "match_tool",
        long = "match-tool",
        value_name = "TOOL=MODE|KEYS",
        requires = "match",
        value_parser = parse_tool
    )]
    tools: Vec<(String, ArgumentRule)>,
}

/// Reads `TOOL=MODE` or `TOOL=KEY,KEY`. `TOOL=exact,` is the key `exact`.
fn parse_tool(text: &str) -> Result<(String, ArgumentRule), String> {
    let (tool, rule) =
        text.split_once('=').ok_or("it should be TOOL=MODE or TOOL=KEYS, such as image/crop=ignore")?;
    if let Some(mode) = ArgumentMode::from_name(rule) {
        return Ok((tool.to_owned(), ArgumentRule::Mode(mode)));
    }
    let keys: Vec<String> = rule.split(',').filter(|key| !key.is_empty()).map(str::to_owned).collect();
    if keys.is_empty() {
        return Err("no mode and no key follows the `=`".to_owned());
    }
    if !rule.contains(',')
        && let Some(mode) = mistyped(rule)
    {
        return Err(format!(
            "`{rule}` is no mode; `{mode}` is, and `{rule},` with a comma is an argument of this name"
        ));
    }
    Ok((tool.to_owned(), ArgumentRule::Keys(keys)))
}

/// The least likeness of a word and a mode, in [0, 1], with which the word counts as mistyped: `exat` has 0.95.
const LIKE_A_MODE: f64 = 0.93;

/// The mode that this word looks like.
fn mistyped(word: &str) -> Option<&'static str> {
    let modes = ArgumentMode::ALL.map(ArgumentMode::name);
    nearest(word, modes).first().filter(|(likeness, _)| *likeness >= LIKE_A_MODE).map(|(_, mode)| *mode)
}

impl MatchArgs {
    /// The options of matching, if `--match` is used; warns of a tool that is not called. If a tool is named twice, the
    /// last counts.
    pub(crate) fn options(&self, is_called: &dyn Fn(&str) -> bool, printer: Printer) -> Option<MatchOptions> {
        let tools: BTreeMap<String, ArgumentRule> = self.tools.iter().cloned().collect();
        if let Some(tool) = tools.keys().find(|tool| !is_called(tool)) {
            printer.warn(&format!("`--match-tool`: neither side calls `{}`", shortened(tool, 60)));
        }
        let arguments = self.arguments.unwrap_or(ArgumentMode::Exact);
        Some(MatchOptions { mode: self.mode?, arguments, tools })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_with_a_slip_is_no_argument() {
        for slip in ["exat", "Exact", "ignroe", "ignored", "sub_set", "supserset"] {
            assert!(mistyped(slip).is_some(), "{slip}");
        }
        for argument in
            ["extra", "exchange", "image", "signature", "sub", "set", "super", "subject", "supplier"]
        {
            assert_eq!(mistyped(argument), None, "{argument}");
        }
        assert!(parse_tool("a=exat").is_err());
        assert_eq!(parse_tool("a=exat,"), Ok(("a".to_owned(), ArgumentRule::Keys(vec!["exat".to_owned()]))));
    }
}
