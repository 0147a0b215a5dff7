//! Checks the calls of a prediction against those of a reference.

use std::borrow::Cow;

use m3_trajectory::Call;
use m3_trajectory::json::Json;
use m3_trajectory::tool_names::is_same_tool;

use super::category::Category;
use super::compare::{AcceptedValues, Form};
use super::failure::{Failure, Kind, Mismatch};
use super::schema::{Language, Parameter, Parameters, Type};
use super::source;
use crate::members::arguments;

/// The arguments of a call.
type Arguments = [(String, Json)];

/// A call of a reference.
#[derive(Debug)]
struct ExpectedCall<'a> {
    name: &'a str,
    /// The accepted values of each argument.
    accepted: Vec<(&'a str, AcceptedValues<'a>)>,
    /// The parameters of the function, if they are known.
    parameters: Option<Parameters<'a>>,
    language: Language,
}

/// A call of a prediction.
#[derive(Debug)]
struct PredictedCall<'a> {
    name: &'a str,
    arguments: Cow<'a, Arguments>,
}

/// Whether a prediction's calls are accepted: `ast_checker` of the published program, and its check of (ir)relevance.
///
/// A call of `gold` accepts the values in its member `accepted`, an object with a list for each argument, or without it
/// only its own arguments. `schema` gives the parameters of a function, as JSON Schema or in BFCL's words; without a
/// schema, types and required arguments are not checked.
pub(crate) fn check<'a>(
    gold: &[&'a Call],
    predicted: &[&'a Call],
    schema: &dyn Fn(&str) -> Option<&'a Json>,
    language: Language,
    category: Category,
) -> Result<(), Failure> {
    let calls: Option<Vec<PredictedCall<'_>>> =
        predicted.iter().map(|call| PredictedCall::new(call)).collect();
    let is_called = calls.as_ref().is_some_and(|calls| !calls.is_empty());
    let fail = |kind, message: &str| Err(Failure { kind, message: message.to_owned() });
    match (category, calls) {
        (Category::Irrelevance, _) if is_called => {
            fail(Kind::CalledIrrelevant, "no function fits, and one is called")
        }
        (Category::Relevance, _) if !is_called => fail(Kind::NotCalledRelevant, "no function is called"),
        (Category::Irrelevance | Category::Relevance, _) => Ok(()),
        (_, None) => fail(Kind::WrongOutputFormat, "the arguments of a call are no object"),
        (_, Some(calls)) => {
            let gold: Vec<_> = gold.iter().map(|call| ExpectedCall::new(call, schema, language)).collect();
            check_calls(&gold, &calls, category)
        }
    }
}

/// Whether an argument has the value of the reference, as the only one that is accepted, and the type of the schema.
pub(crate) fn is_accepted(value: &Json, gold: &Json, schema: Option<&Json>) -> bool {
    let accepted = AcceptedValues::only(gold);
    match schema.map(|schema| Parameter::new(schema, Language::Python)) {
        Some(parameter) => check_typed(value, &accepted, &parameter, Language::Python).is_ok(),
        None => accepted.check_without_type(value).is_ok(),
    }
}

/// Whether a value and its items have the types that the schema names. If a schema has no single type, any value is
/// accepted; a whole number also counts as a float.
pub(crate) fn has_type(value: &Json, schema: &Json) -> bool {
    let is_of = |value: &Json, schema: &Json| {
        let wanted = schema.get("type").and_then(Json::as_str).and_then(|name| Language::Python.types(name));
        let kind = Type::from_value(value);
        wanted.is_none_or(|wanted| kind == wanted || (wanted == Type::Float && kind == Type::Integer))
    };
    let have_type = |list: &[Json], items: &Json| list.iter().all(|item| is_of(item, items));
    is_of(value, schema)
        && match (value, schema.get("items")) {
            (Json::Array(list), Some(items)) => have_type(list, items),
            _ => true,
        }
}

fn check_typed(
    value: &Json,
    accepted: &AcceptedValues<'_>,
    parameter: &Parameter<'_>,
    language: Language,
) -> Result<(), Kind> {
    let value = source::value(value, parameter, language)?;
    accepted.check(&value, parameter.own.kind, parameter.items.map(|items| items.kind))
}

fn check_calls(
    gold: &[ExpectedCall<'_>],
    predicted: &[PredictedCall<'_>],
    category: Category,
) -> Result<(), Failure> {
    if gold.len() != predicted.len() {
        let kind = match category {
            Category::Parallel | Category::ParallelMultiple => Kind::WrongCountParallel,
            Category::Multiple => Kind::WrongCountMultiple,
            _ => Kind::WrongCountSimple,
        };
        return Err(Failure { kind, message: format!("{} calls, not {}", predicted.len(), gold.len()) });
    }
    if let (Category::Simple | Category::Multiple, [gold], [predicted]) = (category, gold, predicted) {
        return gold.check(predicted).map_err(|mismatch| Failure {
            kind: mismatch.kind,
            message: gold.message(&mismatch, predicted),
        });
    }
    match_in_order(gold, predicted)
}

/// Gives each call of the reference the first predicted call that fits and is not taken.
fn match_in_order(gold: &[ExpectedCall<'_>], predicted: &[PredictedCall<'_>]) -> Result<(), Failure> {
    let mut rest: Vec<&PredictedCall<'_>> = predicted.iter().collect();
    for (number, gold) in gold.iter().enumerate() {
        let Some(place) = rest.iter().position(|call| gold.check(call).is_ok()) else {
            let message = format!("no call fits call {} of the reference: {}", number + 1, gold.why(&rest));
            return Err(Failure { kind: Kind::NoMatch, message });
        };
        rest.remove(place);
    }
    Ok(())
}

impl<'a> PredictedCall<'a> {
    fn new(call: &'a Call) -> Option<Self> {
        Some(Self { name: &call.tool, arguments: arguments(call)? })
    }

    fn has(&self, argument: &str) -> bool {
        self.arguments.iter().any(|(key, _)| key == argument)
    }
}

impl<'a> ExpectedCall<'a> {
    fn new(call: &'a Call, schema: &dyn Fn(&str) -> Option<&'a Json>, language: Language) -> Self {
        let member = call.get("accepted");
        let (members, form) = match (member, &call.arguments) {
            (Some(Json::Object(members)), _) => (members.as_slice(), Form::Listed),
            (_, Some(Json::Object(members))) => (members.as_slice(), Form::Only),
            _ => (&[][..], Form::Only),
        };
        let accepted = members.iter().map(|(argument, value)| {
            let values = match (value, form) {
                (Json::Array(values), Form::Listed) => values.as_slice(),
                _ => std::slice::from_ref(value),
            };
            (argument.as_str(), AcceptedValues { values, form })
        });
        let parameters = schema(&call.tool).map(|schema| Parameters::new(schema, language));
        Self { name: &call.tool, accepted: accepted.collect(), parameters, language }
    }

    /// Checks a call; the error is the first mismatch in the order of the published program.
    fn check<'f>(&'f self, call: &'f PredictedCall<'f>) -> Result<(), Mismatch<'f>> {
        if !is_same_tool(self.name, call.name) {
            return Err(Mismatch { kind: Kind::WrongName, argument: None });
        }
        let wrong = |argument| move |kind| Mismatch { kind, argument: Some(argument) };
        if let Some(parameters) = &self.parameters
            && let Some(missing) = parameters.required().find(|name| !call.has(name))
        {
            return Err(wrong(missing)(Kind::MissingRequired));
        }
        for (argument, value) in call.arguments.iter() {
            self.check_argument(argument, value).map_err(wrong(argument))?;
        }
        match self.accepted.iter().find(|(name, accepted)| !call.has(name) && !accepted.is_optional()) {
            Some((missing, _)) => Err(wrong(missing)(Kind::MissingOptional)),
            None => Ok(()),
        }
    }

    fn check_argument(&self, argument: &str, value: &Json) -> Result<(), Kind> {
        let accepted = self.accepted_of(argument).ok_or(Kind::Unexpected)?;
        let Some(parameters) = &self.parameters else {
            return accepted.check_without_type(value);
        };
        let parameter = parameters.get(argument).ok_or(Kind::Unexpected)?;
        check_typed(value, accepted, &parameter, self.language)
    }

    fn accepted_of(&self, argument: &str) -> Option<&AcceptedValues<'a>> {
        self.accepted.iter().find(|(name, _)| *name == argument).map(|(_, accepted)| accepted)
    }

    fn message(&self, mismatch: &Mismatch<'_>, call: &PredictedCall<'_>) -> String {
        let accepted = mismatch.argument.and_then(|name| self.accepted_of(name));
        mismatch.message(self.name, &call.arguments, accepted.map_or(&[], |accepted| accepted.values))
    }

    /// The reason why the first call of the same function, or else the first call, does not fit.
    fn why(&self, calls: &[&PredictedCall<'_>]) -> String {
        let is_same = |call: &&PredictedCall<'_>| is_same_tool(self.name, call.name);
        let call = calls.iter().copied().find(is_same).or_else(|| calls.first().copied());
        let mismatch = call.and_then(|call| Some((call, self.check(call).err()?)));
        mismatch.map_or_else(String::new, |(call, mismatch)| {
            format!("{} ({})", self.message(&mismatch, call), mismatch.kind.label())
        })
    }
}
