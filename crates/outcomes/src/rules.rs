//! The rules that decide a call's outcome from its answer, as one table. They are tried in order; the first that
//! applies decides. `docs/outcomes.md` lists them with examples.

use super::format;
use super::outcome::{NotJudged, Outcome, Rule};

/// A rule over an answer.
#[derive(Debug)]
pub struct AnswerRule {
    /// The rule with its name and its outcome.
    pub rule: Rule,
    /// The part of an answer that the rule looks at.
    pub looks_at: Where,
}

/// The part of an answer that a rule looks at.
#[derive(Debug)]
pub enum Where {
    /// The status code (RFC 9110, section 15) of an answer that reports its failure: ranges, both ends included.
    Status(&'static [(u16, u16)]),
    /// The message of an answer that reports its failure: regular expressions, ignoring case.
    Failure(&'static [&'static str]),
    /// The whole first sentence of a short answer that does not report its failure: regular expressions, ignoring
    /// case. `<about>` stands for optional words about what was searched for.
    Short(&'static [&'static str]),
}

const fn on_status(rule: Rule, codes: &'static [(u16, u16)]) -> AnswerRule {
    AnswerRule { rule, looks_at: Where::Status(codes) }
}

const fn on_failure(rule: Rule, patterns: &'static [&'static str]) -> AnswerRule {
    AnswerRule { rule, looks_at: Where::Failure(patterns) }
}

/// The rules over answers, in the order in which they are tried.
pub static ANSWER_RULES: [AnswerRule; 14] = [
    on_failure(
        Rule::sure(
            "unknown_tool_answer",
            Outcome::UnknownTool,
            "the answer says that there is no such tool, or has the code -32601 (method not found)",
        ),
        &[
            r"\b(unknown|no such|unrecognized|nonexistent) (tool|function)\b",
            r#"\b(tool|function)\s+[`'"]?(?-u:[\w./:-]){1,100}[`'"]?\s+(was |is )?(not (found|registered|known|available)|does not exist|unknown)\b"#,
            r"\btool not found\b",
            r"-32601\b",
            r"\bmethod not found\b",
        ],
    ),
    on_failure(
        Rule::sure(
            "output_invalid",
            Outcome::ResourceNotFound,
            "the message says that the tool's own output does not fit its output schema",
        ),
        &[
            r"\boutput validation (error|failed)",
            r"\boutput ?schema\b.{0,40}\b(no structured|without structured)",
            r"\bstructured (content|output)\b.{0,60}\boutput ?schema\b",
            r"\b(result|response|output)\b.{0,40}\b(not match|not fit|violates)\b.{0,40}\boutput ?schema\b",
        ],
    ),
    on_status(
        Rule::sure("status_not_found", Outcome::ResourceNotFound, "status 404 or 410"),
        &[(404, 404), (410, 410)],
    ),
    on_status(
        Rule::sure(
            "status_denied",
            Outcome::ResourceNotFound,
            "status 401, 402, 403, 407 or 451: the backend gives it to others only",
        ),
        &[(401, 403), (407, 407), (451, 451)],
    ),
    on_status(
        Rule::sure(
            "status_busy",
            Outcome::ResourceNotFound,
            "status 408, 425 or 429: the backend has no time for it",
        ),
        &[(408, 408), (425, 425), (429, 429)],
    ),
    on_status(
        Rule::sure(
            "status_bad_request",
            Outcome::InvalidArguments,
            "any other status of the 400s, 400 and 422 above all",
        ),
        &[(400, 499)],
    ),
    on_status(
        Rule::sure(
            "status_server_error",
            Outcome::ResourceNotFound,
            "a status of the 500s: the backend failed",
        ),
        &[(500, 599)],
    ),
    on_failure(
        Rule::sure(
            "connection_failed",
            Outcome::ResourceNotFound,
            "the message speaks of a connection, a name or a time limit between tool and backend",
        ),
        &[
            r"\bECONN(REFUSED|RESET|ABORTED)\b",
            r"\bE(NOTFOUND|AI_AGAIN|TIMEDOUT|HOSTUNREACH|NETUNREACH)\b",
            r"\bgetaddrinfo\b",
            r"\bname or service not known\b",
            r"\bname resolution\b",
            r"\bcould not resolve host\b",
            r"\bnodename nor servname\b",
            r"\bmax retries exceeded\b",
            r"\bfetch failed\b",
            r"\bfailed to (fetch|connect|establish)\b",
            r"\b(operation|request) was aborted\b",
            r"\bnetwork (is )?(unreachable|error)\b",
            r"\bconnection ?(refused|reset|error|aborted|failed|closed|timed ?out|attempts failed)\b",
            r"\b(all )?connection attempts failed\b",
            r"\bno route to host\b",
            r"\bcannot connect\b",
            r"\bconnect(ion)? ?error\b",
            r"\btimed?[ -]?out\b",
            r"\bssl (error|handshake|certificate)\b",
            r"\bcertificate verify failed\b",
        ],
    ),
    on_failure(
        Rule::sure(
            "access_denied",
            Outcome::ResourceNotFound,
            "the message speaks of permission, authentication or a key that is missing",
        ),
        &[
            r"\b(permission|access|request)[ _]denied\b",
            r"\bunauthori[sz]ed\b",
            r"\bunauthenticated\b",
            r"\bforbidden\b",
            r"\bnot (authori[sz]ed|permitted|logged in)\b",
            r"\bEACCES\b",
            r"\bEPERM\b",
            r"\boperation not permitted\b",
            r"\bapi[ _-]?(key|token)s?\b",
            r"\baccess token\b",
            r"\b(invalid|missing|wrong|expired)[_ ](api|user|auth|access|secret|session|bearer)[_ ](key|token)\b",
            r"\bauthentication\b",
            r"\bcredentials?\b",
            r"\bsubscription\b",
        ],
    ),
    on_failure(
        Rule::sure(
            "rate_limited",
            Outcome::ResourceNotFound,
            "the message speaks of too many requests or a used-up quota",
        ),
        &[
            r"\brate[ -]?limit(s|ed|ing)?\b",
            r"\btoo many requests\b",
            r"\bquota\b",
            r"\bover_(query|daily)_limit\b",
            r"\bresource_exhausted\b",
            r"\bthrottl(ed|ing)\b",
            r"\blimit (has been |was |is )?(exceeded|reached)\b",
        ],
    ),
    on_failure(
        Rule::sure(
            "invalid_arguments_answer",
            Outcome::InvalidArguments,
            "the message says that arguments are invalid, missing or of the wrong kind, or has the code -32602",
        ),
        &[
            r"-32602\b",
            r"\b(invalid|illegal|bad|wrong|incorrect|malformed)[ _]?(tool )?(arg(ument)?s?|param(eter)?s?|input|request|value|type|format|literal|url|uri|coordinates?|dates?|filename|file name|path|query|json|option|enum value)\b",
            r"\bvalidation (error|failed)",
            r"\bfields? required\b",
            r"\brequired (propert(y|ies)|fields?|arg(ument)?s?|param(eter)?s?)\b",
            r#"\b(arg(ument)?|param(eter)?|field|property|key)s?\s+[`'"]?(?-u:[\w.-]){0,60}[`'"]?\s*(is|are) (required|missing|invalid)\b"#,
            r"\bis a required property\b",
            r"\bmissing\b.{0,40}\b(arg(ument)?|param(eter)?|field|property|key|value)s?\b",
            r"\binput should be\b",
            r"\bmust (be|have|contain|match|not|provide|specify)\b",
            r"\bunexpected (keyword|arg(ument)?|propert|param)",
            r"\badditional propert(y|ies)\b",
            r"\bunrecognized (key|arg|param)",
            r"\bnot of type\b",
            r"\bis not one of\b",
            r"\bout of (range|bounds)\b",
            r"\bunsupported\b",
            r"\bexpected\b.{1,60}\b(but )?(got|received|found)\b",
            r"\bcould not convert\b",
        ],
    ),
    on_failure(
        Rule::sure(
            "not_found_answer",
            Outcome::ResourceNotFound,
            "the message says that something is not there",
        ),
        &[
            r"\bnot[ _]found\b",
            r"\bno such\b",
            r"\bno (file|folder|directory|image|page|record|entry|item|user) [`'\x22]",
            r"\b(does|do|did)(n't| not) exist\b",
            r"\bno longer (exists|available)\b",
            r"\b(could ?n[o']t|cannot|can't|can not|unable to|failed to) (be )?(find|found|locate|located|resolve|resolved)\b",
            r"\bno (\w+ ){0,3}(found|available|matched|match|matches|results?)\b",
            r"\bzero_results\b",
            r"\bENOENT\b",
            r"\bnothing (was )?found\b",
            r"\bnot (available|exist)\b",
            r"\bunknown (city|location|place|page|id|user|subreddit|resource|station|symbol)\b",
        ],
    ),
    on_failure(
        Rule::sure(
            "backend_error",
            Outcome::ResourceNotFound,
            "the message says that the backend failed within itself, or has the code -32603",
        ),
        &[
            r"-32603\b",
            r"\binternal (server )?error\b",
            r"\b(no space left|(disk|device|storage) (is )?full)\b",
            r"\b(read-only file ?system|too many open files)\b",
            r"\b(out of|not enough|cannot allocate) memory\b",
            r"\bE(NOSPC|ROFS|MFILE|NFILE|NOMEM|DQUOT|IO)\b",
            r"\b(service|server|temporarily|currently) (is )?(temporarily |currently )?(unavailable|down|overloaded)\b",
            r"\bbad gateway\b",
            r"\bgateway time-?out\b",
            r"\bsomething went wrong\b",
            r"\bupstream\b",
            r"\boverloaded\b",
            r"\bmaintenance\b",
            r"\bunknown_error\b",
            r"\btry again later\b",
        ],
    ),
    AnswerRule {
        rule: Rule::sure(
            "nothing_found",
            Outcome::ResourceNotFound,
            "a short answer that does not call itself an error says nothing but that there is nothing",
        ),
        looks_at: Where::Short(&[
            r"(sorry,? )?(there (are|were|is|was) )?(no|zero|0) ([\w'-]+ ){0,5}(found|available|returned|match|matches|matched|exists?)<about>",
            r"(sorry,? )?(there (are|were|is|was) )?(no|zero|0) (results?|matches|data|hits|entries|items)<about>",
            r"(sorry,? )?(i |we )?(could ?n[o']t|could not|cannot|can't|unable to) (find|locate) (a|an|any|the|that|this|it|such)\b.*",
            r"(sorry,? )?(i |we )?(could ?n[o']t|could not|cannot|can't|unable to) (find|locate) [`'\x22]?[^\s]+[`'\x22]?",
            r".{0,120}\b((was|were|is|are|could) )?not (be )?found",
            r"not found<about>",
            r"no such [\w-]+",
            r".{0,120}\bdo(es)? not exist",
            r"nothing (was )?found<about>",
            r".{0,120}\bdid not match any\b.*",
            r".{0,120}\breturned no (results|matches|data)",
        ]),
    },
];

/// The tool is known and the arguments fit its schema, but the call was not executed.
pub(super) static FITS_SCHEMA: Rule = Rule::not_executed(
    "fits_schema",
    "the tool is known, its schema accepts the arguments, and there is no answer: nothing was executed",
);

/// No known tool has this name.
pub(super) static NOT_IN_CATALOG: Rule = Rule::sure(
    "not_in_catalog",
    Outcome::UnknownTool,
    "neither the catalog nor a server has a tool of this name",
);

/// The tool's input schema refuses the arguments.
pub(super) static SCHEMA: Rule =
    Rule::sure("schema", Outcome::InvalidArguments, "the tool's input schema does not accept the arguments");

/// The call failed, and nothing tells why.
pub(super) static IS_ERROR: Rule = Rule::unsure(
    "is_error",
    Outcome::InvalidArguments,
    "the server marks the answer as an error (`isError`) and no rule knows its message",
);

/// The answer reports an error, but is not marked as one.
pub(super) static SAYS_ERROR: Rule = Rule::unsure(
    "says_error",
    Outcome::InvalidArguments,
    "the answer begins like an error, or is JSON that says so, and no rule knows its message",
);

/// The answer begins like a failure or an empty search, but goes on.
pub(super) static BEGINS_LIKE_FAILURE: Rule = Rule::unsure(
    "begins_like_failure",
    Outcome::ResourceNotFound,
    "a short answer begins as a failed or empty-handed backend does, and goes on",
);

/// The answer has no content.
pub(super) static EMPTY_ANSWER: Rule = Rule::unsure(
    "empty_answer",
    Outcome::ResourceNotFound,
    "the answer has no content, or nothing but white space, `[]`, `{}` or `null`",
);

/// The answer is a list of results without items.
pub(super) static EMPTY_RESULTS: Rule = Rule::unsure(
    "empty_results",
    Outcome::ResourceNotFound,
    "the answer is JSON whose list of results is empty, or whose count of them is 0",
);

/// The answer speaks of a failure, which need not be its own.
pub(super) static MENTIONS_FAILURE: Rule = Rule::unsure(
    "mentions_failure",
    Outcome::Success,
    "the answer speaks of an error or of something not found near its beginning, but not as its message",
);

/// No other rule applies: the answer is a result.
pub(super) static NORMAL_RESULT: Rule = Rule::sure(
    "normal_result",
    Outcome::Success,
    "the answer has content and nothing in it says that it failed",
);

/// The tool's server cannot be asked.
pub(super) static SERVER_NOT_AVAILABLE: Rule = Rule::no_answer(
    "server_not_available",
    NotJudged::ServerNotAvailable,
    "the tool's server is disabled or could not be started, had no place for the call in time, or a catalog has the tool and the configuration does not have its server",
);

/// The server took too long.
pub(super) static TIMED_OUT: Rule =
    Rule::no_answer("timed_out", NotJudged::TimedOut, "the server did not answer within its time limit");

/// The server was lost during the call.
pub(super) static SERVER_LOST: Rule = Rule::no_answer(
    "server_lost",
    NotJudged::ServerLost,
    "the server ended or broke the connection during the call",
);

/// The answer cannot be read.
pub(super) static UNREADABLE: Rule = Rule::no_answer(
    "unreadable",
    NotJudged::Unreadable,
    "what the server answered breaks the protocol, or is larger than the host accepts",
);

/// The call failed because the replay did not find the trajectory's image.
pub(super) static IMAGE_MISSING: Rule = Rule::no_answer(
    "image_missing",
    NotJudged::ImageMissing,
    "the call failed, the trajectory's image was not found for the replay, and the arguments of this call or of an earlier one that failed name it",
);

/// The outcomes that a language model may choose where no rule is sure.
pub(super) static ANSWERS_BY_MODEL: [&Rule; 4] = [
    &Rule::asked(
        "model_says_unknown_tool",
        Outcome::UnknownTool,
        "asked, a language model finds that there is no such tool",
    ),
    &Rule::asked(
        "model_says_invalid_arguments",
        Outcome::InvalidArguments,
        "asked, a language model finds that the tool could not work with the arguments",
    ),
    &Rule::asked(
        "model_says_not_found",
        Outcome::ResourceNotFound,
        "asked, a language model finds that the backend did not have or did not give it",
    ),
    &Rule::asked(
        "model_says_success",
        Outcome::Success,
        "asked, a language model finds that the result is a normal one",
    ),
];

/// Every rule, in the order in which they are tried.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    let before: [&'static Rule; 14] = [
        &format::NO_NAME,
        &format::RECORDED_ILLEGAL,
        &format::ARGUMENTS_NOT_OBJECT,
        &format::NOT_JSON,
        &format::NO_ARGUMENTS,
        &format::CALL_IN_REPLY,
        &NOT_IN_CATALOG,
        &SCHEMA,
        &FITS_SCHEMA,
        &SERVER_NOT_AVAILABLE,
        &TIMED_OUT,
        &SERVER_LOST,
        &UNREADABLE,
        &IMAGE_MISSING,
    ];
    let after: [&'static Rule; 7] = [
        &IS_ERROR,
        &SAYS_ERROR,
        &BEGINS_LIKE_FAILURE,
        &EMPTY_ANSWER,
        &EMPTY_RESULTS,
        &MENTIONS_FAILURE,
        &NORMAL_RESULT,
    ];
    let answers = ANSWER_RULES.iter().map(|answer| &answer.rule);
    before.into_iter().chain(answers).chain(after).chain(ANSWERS_BY_MODEL)
}
