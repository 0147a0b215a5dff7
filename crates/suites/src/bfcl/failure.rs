//! Why calls are not accepted.

use m3_support::text::shortened;
use m3_trajectory::json::{Json, Keys};

/// The error types of the published program, and one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    WrongOutputFormat,
    WrongCountSimple,
    WrongCountMultiple,
    WrongCountParallel,
    NoMatch,
    WrongName,
    MissingRequired,
    Unexpected,
    MissingOptional,
    TypeSimple,
    TypeNested,
    TypeJava,
    TypeJavaScript,
    ValueText,
    ValueList,
    ValueKey,
    ValueMember,
    ValueObjectCount,
    ValueOther,
    UnclearObject,
    UnclearObjects,
    CalledIrrelevant,
    NotCalledRelevant,
    /// There is no prediction; the published program requires one for every task.
    NoPrediction,
}

impl Kind {
    /// The name in reports: the `error_type` of the published program.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::WrongOutputFormat => "ast_decoder:decoder_wrong_output_format",
            Self::WrongCountSimple => "simple_function_checker:wrong_count",
            Self::WrongCountMultiple => "multiple_function_checker:wrong_count",
            Self::WrongCountParallel => "parallel_function_checker_no_order:wrong_count",
            Self::NoMatch => "parallel_function_checker_no_order:cannot_find_match",
            Self::WrongName => "simple_function_checker:wrong_func_name",
            Self::MissingRequired => "simple_function_checker:missing_required",
            Self::Unexpected => "simple_function_checker:unexpected_param",
            Self::MissingOptional => "simple_function_checker:missing_optional",
            Self::TypeSimple => "type_error:simple",
            Self::TypeNested => "type_error:nested",
            Self::TypeJava => "type_error:java",
            Self::TypeJavaScript => "type_error:js",
            Self::ValueText => "value_error:string",
            Self::ValueList => "value_error:list/tuple",
            Self::ValueKey => "value_error:dict_key",
            Self::ValueMember => "value_error:dict_value",
            Self::ValueObjectCount => "value_error:list_dict_count",
            Self::ValueOther => "value_error:others",
            Self::UnclearObject => "dict_checker:unclear",
            Self::UnclearObjects => "list_dict_checker:unclear",
            Self::CalledIrrelevant => "irrelevance_error:decoder_success",
            Self::NotCalledRelevant => "relevance_error:decoder_failed",
            Self::NoPrediction => "no_prediction",
        }
    }

    /// The error of an argument, in words.
    fn of_argument(self) -> &'static str {
        match self {
            Self::MissingRequired => "is required, and missing",
            Self::Unexpected => "is not expected",
            Self::MissingOptional => "is missing, and may not be left out",
            Self::TypeSimple => "has the wrong type",
            Self::TypeNested => "has items of the wrong type",
            Self::TypeJava => "should be a text of Java's source",
            Self::TypeJavaScript => "should be a text of JavaScript's source",
            Self::ValueKey => "has other keys than accepted",
            Self::ValueMember => "has a member with another value than accepted",
            Self::ValueObjectCount => "has another number of objects than accepted",
            _ => "has another value than accepted",
        }
    }
}

/// Why calls are not accepted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    /// The error type of the published program.
    pub(crate) kind: Kind,
    /// A sentence for people. It quotes texts of models.
    pub(crate) message: String,
}

/// The reason why one call does not fit another. It is computed for each pair of parallel calls, so it allocates
/// nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mismatch<'a> {
    pub(super) kind: Kind,
    /// The wrong argument; `None` if the name of the function is wrong.
    pub(super) argument: Option<&'a str>,
}

impl Mismatch<'_> {
    /// The reason as a sentence, for a call with these arguments and accepted values.
    pub(super) fn message(&self, name: &str, found: &[(String, Json)], accepted: &[Json]) -> String {
        let Some(argument) = self.argument else {
            return format!("the function should be `{}`", shown(name));
        };
        let wrong = format!("`{}` of `{}` {}", shown(argument), shown(name), self.kind.of_argument());
        if matches!(self.kind, Kind::MissingRequired | Kind::MissingOptional | Kind::Unexpected) {
            return wrong;
        }
        let text = |value: &Json| shown(&value.to_text(Keys::AsRead));
        let argument_value = found.iter().find(|(key, _)| key == argument).map(|(_, value)| text(value));
        let accepted: Vec<String> = accepted.iter().take(3).map(text).collect();
        format!("{wrong}: {}; accepted: {}", argument_value.unwrap_or_default(), accepted.join(", "))
    }
}

/// A text of a model, shortened for a sentence.
fn shown(text: &str) -> String {
    shortened(text, 80)
}
