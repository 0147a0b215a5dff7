//! Answers and the rule that should decide each: for every rule over answers, some that it should decide and some
//! that it must not decide. Texts marked "section 8" are those of M³-Bench's error analysis; the others have the
//! wording of widely used clients, frameworks and interfaces.

use std::collections::BTreeSet;

use m3_mcp::{Content, ToolResult};
use m3_trajectory::json;

use super::outcome::Outcome::{self, InvalidArguments, ResourceNotFound, Success, UnknownTool};
use super::{Answer, Verdict, all_rules};

/// Answers that do not set `isError`.
const PLAIN: &[(&str, &str, Outcome)] = &[
    // Section 8.
    ("[Tool error] Unknown tool: ocr/performance", "unknown_tool_answer", UnknownTool),
    (
        "Error executing tool create_workbook: Field required [filepath]",
        "invalid_arguments_answer",
        InvalidArguments,
    ),
    (
        "Error executing tool create_worksheet: Missing filepath argument",
        "invalid_arguments_answer",
        InvalidArguments,
    ),
    (
        "Error executing tool write_data_to_excel: Invalid filename | must be absolute path when not in SSE mode",
        "invalid_arguments_answer",
        InvalidArguments,
    ),
    ("Error executing tool get_nutrition: 'measure'", "says_error", InvalidArguments),
    ("Error: Reddit API returned 400", "status_bad_request", InvalidArguments),
    ("Error: Permission denied at '/path'.", "access_denied", ResourceNotFound),
    ("Error: File not found | '/path/to/output.xlsx'.", "not_found_answer", ResourceNotFound),
    ("Error: No such file or directory | '/path/to/output.xlsx'.", "not_found_answer", ResourceNotFound),
    ("Top Reddit post found: 86 comments (r/food).", "normal_result", Success),
    (
        "Created new presentation with ID: tourist_comparison_presentation (0 slides).",
        "normal_result",
        Success,
    ),
    // Lists and lines of logs.
    ("[mean, standard error]", "mentions_failure", Success),
    ("[2024-05-01 10:00:01 error] disk almost full, 3 jobs went on", "mentions_failure", Success),
    // Section 5.4.
    ("[Tool error] Invalid arguments", "invalid_arguments_answer", InvalidArguments),
    // The references of the benchmark.
    ("Error: Reddit API returned 404", "status_not_found", ResourceNotFound),
    (
        "Score: 121 | Comments: 138 | Post: 'Blossom End Rot - please read before posting'",
        "normal_result",
        Success,
    ),
    ("Workbook created at ./food_reddit_wiki.xlsx", "normal_result", Success),
    // Unknown tools.
    ("MCP error -32601: Method not found", "unknown_tool_answer", UnknownTool),
    ("MCP error -32602: Unknown tool: search", "unknown_tool_answer", UnknownTool),
    ("MCP error -32602: Tool search_all not found", "unknown_tool_answer", UnknownTool),
    (
        "A spanner is a tool not found in every kitchen, but in most garages and workshops.",
        "mentions_failure",
        Success,
    ),
    // Servers whose own output is wrong.
    (
        "Output validation error: outputSchema defined but no structured output returned",
        "output_invalid",
        ResourceNotFound,
    ),
    (
        "MCP error -32602: Structured content does not match the tool's output schema: data must be object",
        "output_invalid",
        ResourceNotFound,
    ),
    // Envelopes of gateways.
    (r#"{"code": 400, "msg": "bad parameter"}"#, "status_bad_request", InvalidArguments),
    (r#"{"errcode": 40001, "errmsg": "invalid credential"}"#, "access_denied", ResourceNotFound),
    (r#"{"errcode": 0, "errmsg": "ok", "count": 3}"#, "normal_result", Success),
    (r#"{"errcode": 200, "errmsg": "success", "city": "Bern"}"#, "normal_result", Success),
    ("Error: missing required key 'city'", "invalid_arguments_answer", InvalidArguments),
    ("Error: None of the given paths exist", "says_error", InvalidArguments),
    (
        r#"{"status": "0", "info": "INVALID_USER_KEY", "infocode": "10001"}"#,
        "access_denied",
        ResourceNotFound,
    ),
    (r#"{"status": "1", "info": "OK", "infocode": "10000", "city": "Bern"}"#, "normal_result", Success),
    (
        r#"{"detail": [{"loc": ["query", "x"], "msg": "field required", "type": "value_error.missing"}]}"#,
        "invalid_arguments_answer",
        InvalidArguments,
    ),
    (r#"{"Message": "User is not authorized to access this resource"}"#, "access_denied", ResourceNotFound),
    (r#"{"message": "The mail was sent."}"#, "normal_result", Success),
    // Messages of operating systems and languages, and counts of failures.
    ("[Errno 2] No such file or directory: 'a'", "not_found_answer", ResourceNotFound),
    ("spawn npx ENOENT", "not_found_answer", ResourceNotFound),
    ("list index out of range", "invalid_arguments_answer", InvalidArguments),
    ("The operation was aborted due to timeout", "connection_failed", ResourceNotFound),
    ("错误：参数无效", "says_error", InvalidArguments),
    ("Errors: 0, Warnings: 2", "mentions_failure", Success),
    ("failed: 0, passed: 12", "mentions_failure", Success),
    // Status codes.
    ("HTTP 404", "status_not_found", ResourceNotFound),
    ("HTTP 404: Not Found", "status_not_found", ResourceNotFound),
    ("404 Client Error: Not Found for url: https://example.org/api/7", "status_not_found", ResourceNotFound),
    ("Error: Request failed with status code 404", "status_not_found", ResourceNotFound),
    (r#"{"status": 410, "message": "Gone"}"#, "status_not_found", ResourceNotFound),
    (
        r#"{"error": {"code": 404, "message": "no", "status": "NOT_FOUND"}}"#,
        "status_not_found",
        ResourceNotFound,
    ),
    (r#"{"statusCode": "404", "title": "x"}"#, "status_not_found", ResourceNotFound),
    (r#"{"cod": "404", "message": "city"}"#, "status_not_found", ResourceNotFound),
    ("Request failed with status code 403", "status_denied", ResourceNotFound),
    (
        "HTTPError: 401 Client Error: Unauthorized for url: https://example.org",
        "status_denied",
        ResourceNotFound,
    ),
    ("Error: HTTP error! status: 429", "status_busy", ResourceNotFound),
    ("Error: Request failed with status code 422", "status_bad_request", InvalidArguments),
    (r#"{"error": "rejected", "status_code": 400}"#, "status_bad_request", InvalidArguments),
    ("API request failed: 500 Internal Server Error", "status_server_error", ResourceNotFound),
    (r#"{"error": true, "status": 503}"#, "status_server_error", ResourceNotFound),
    // Numbers that are not status codes.
    ("The room number is 404, on the fourth floor.", "normal_result", Success),
    ("Found 404 articles about eels.", "normal_result", Success),
    ("404 Main Street, Springfield", "normal_result", Success),
    (r#"{"status": 200, "price": 404}"#, "normal_result", Success),
    (r#"{"code": 404, "name": "Springfield bus line"}"#, "normal_result", Success),
    (r#"{"calories": 500, "status": "OK"}"#, "normal_result", Success),
    (
        "In computer networks, HTTP 404 is the code of a page that was not found. It was named after a room.",
        "mentions_failure",
        Success,
    ),
    ("Error: line 404 of the input has no comma", "says_error", InvalidArguments),
    // Connections.
    ("Error: connect ECONNREFUSED 127.0.0.1:443", "connection_failed", ResourceNotFound),
    ("Error: getaddrinfo ENOTFOUND api.example.org", "connection_failed", ResourceNotFound),
    ("TypeError: fetch failed", "connection_failed", ResourceNotFound),
    (
        "Error searching: HTTPSConnectionPool(host='x', port=443): Max retries exceeded with url: /",
        "connection_failed",
        ResourceNotFound,
    ),
    (
        r#"{"error": "[Errno -3] Temporary failure in name resolution"}"#,
        "connection_failed",
        ResourceNotFound,
    ),
    ("Request timed out after 30 seconds", "connection_failed", ResourceNotFound),
    ("The connection refused to form between the two rivers until 1904.", "normal_result", Success),
    // Access.
    ("Error: Access denied - path outside allowed directories: /etc", "access_denied", ResourceNotFound),
    ("Error: API key not configured", "access_denied", ResourceNotFound),
    (
        r#"{"status": "REQUEST_DENIED", "error_message": "You must use a key"}"#,
        "access_denied",
        ResourceNotFound,
    ),
    ("Access to the forbidden city is by the south gate.", "normal_result", Success),
    // Limits.
    ("Error: rate limit exceeded", "rate_limited", ResourceNotFound),
    (r#"{"status": "OVER_QUERY_LIMIT", "results": []}"#, "rate_limited", ResourceNotFound),
    ("The fishing quota for eels is 12 tonnes.", "normal_result", Success),
    // Arguments.
    (
        "1 validation error for searchArguments\nquery\n  Field required [type=missing, input_value={}]",
        "invalid_arguments_answer",
        InvalidArguments,
    ),
    ("MCP error -32602: Input validation error", "invalid_arguments_answer", InvalidArguments),
    ("Input validation error: 'title' is a required property", "invalid_arguments_answer", InvalidArguments),
    (
        r#"{"success": false, "message": "Parameter 'city' is missing"}"#,
        "invalid_arguments_answer",
        InvalidArguments,
    ),
    (r#"{"status": "INVALID_REQUEST"}"#, "invalid_arguments_answer", InvalidArguments),
    ("ValueError: n must be positive", "invalid_arguments_answer", InvalidArguments),
    ("Passports must be valid for six months.", "normal_result", Success),
    // Not found.
    ("Error: Page 'Xyzzy' not found", "not_found_answer", ResourceNotFound),
    ("Error: no file `moon.png` in the workspace `task`", "not_found_answer", ResourceNotFound),
    ("Failed to find a route", "not_found_answer", ResourceNotFound),
    ("Error: ENOENT: no such file or directory, open 'x.png'", "not_found_answer", ResourceNotFound),
    (r#"{"Response": "False", "Error": "Movie not found!"}"#, "not_found_answer", ResourceNotFound),
    (r#"{"status": "ZERO_RESULTS", "results": []}"#, "not_found_answer", ResourceNotFound),
    ("The eel is not found in Iceland, but it is in Norway.", "mentions_failure", Success),
    // Backends.
    ("Error: Internal error, something went wrong", "backend_error", ResourceNotFound),
    (r#"{"error": "Service temporarily unavailable"}"#, "backend_error", ResourceNotFound),
    ("Error: cannot write b.png: No space left on device (os error 28)", "backend_error", ResourceNotFound),
    ("Error: Read-only file system", "backend_error", ResourceNotFound),
    ("Error: [Errno 24] Too many open files", "backend_error", ResourceNotFound),
    ("The dam upstream is under maintenance.", "normal_result", Success),
    // Short answers.
    ("No results found for 'xyzzy'", "nothing_found", ResourceNotFound),
    ("No barcode found in image", "nothing_found", ResourceNotFound),
    ("0 results", "nothing_found", ResourceNotFound),
    ("Page 'Xyzzy' does not exist.", "nothing_found", ResourceNotFound),
    ("There are no campgrounds available", "nothing_found", ResourceNotFound),
    ("Your search did not match any articles.", "nothing_found", ResourceNotFound),
    ("No entry fee. The park is open all year.", "normal_result", Success),
    // Failures without a known cause.
    (r#"{"error": "E7"}"#, "says_error", InvalidArguments),
    (
        "Traceback (most recent call last):\n  File \"x.py\"\nKeyError: 'measure'",
        "says_error",
        InvalidArguments,
    ),
    ("An error occurred", "says_error", InvalidArguments),
    (r#"{"error": null, "errors": [], "name": "eel"}"#, "normal_result", Success),
    (r#"{"errors": ["row 7"], "data": {"rows": 6}}"#, "mentions_failure", Success),
    // Answers without content.
    ("", "empty_answer", ResourceNotFound),
    (" [] \n", "empty_answer", ResourceNotFound),
    ("null", "empty_answer", ResourceNotFound),
    (r#"{"result": []}"#, "empty_answer", ResourceNotFound),
    ("0", "normal_result", Success),
    ("false", "normal_result", Success),
    (r#"{"status": "success", "total_results": 0, "articles": []}"#, "empty_results", ResourceNotFound),
    (r#"{"results": []}"#, "empty_results", ResourceNotFound),
    (r#"{"total_results": 27164, "articles": [{"id": "41135340"}]}"#, "normal_result", Success),
    (r#"{"results": [], "suggestions": ["eel"]}"#, "normal_result", Success),
    // Failures mentioned in passing.
    ("Trial and error is a method of solving problems.", "mentions_failure", Success),
    ("Error correction codes add redundancy to a message.", "mentions_failure", Success),
    ("An error is an inaccurate or incorrect action.", "mentions_failure", Success),
    (r#"{"title": "The day the power failed"}"#, "mentions_failure", Success),
];

/// Short failures without any mark, normal answers that resemble failures, and doubtful answers.
const SHORT: &[(&str, &str, Outcome)] = &[
    ("No such page", "nothing_found", ResourceNotFound),
    ("You are not authorized to see this", "access_denied", ResourceNotFound),
    ("Errors in authentication are common.", "mentions_failure", Success),
    ("Error in search: page not found", "not_found_answer", ResourceNotFound),
    ("Connection refused", "connection_failed", ResourceNotFound),
    ("Timeout", "connection_failed", ResourceNotFound),
    ("Timed out after 30 seconds", "connection_failed", ResourceNotFound),
    ("Timeout is a novel of 1994.", "normal_result", Success),
    ("Forbidden", "access_denied", ResourceNotFound),
    ("Unauthorized", "access_denied", ResourceNotFound),
    ("Forbidden City, Beijing: open daily", "normal_result", Success),
    ("Forbidden: you have no part in this", "begins_like_failure", ResourceNotFound),
    ("Rate limit exceeded", "rate_limited", ResourceNotFound),
    ("Rate limit exceeded. Please wait a minute.", "rate_limited", ResourceNotFound),
    ("Too many requests", "rate_limited", ResourceNotFound),
    ("Quota exceeded for today", "rate_limited", ResourceNotFound),
    ("Too many requests for tickets closed the box office.", "begins_like_failure", ResourceNotFound),
    ("Sorry, something went wrong", "backend_error", ResourceNotFound),
    ("Zero results", "nothing_found", ResourceNotFound),
    ("No results found. 300 rows of the archive follow.", "begins_like_failure", ResourceNotFound),
    ("No results are excluded. 300 rows follow", "normal_result", Success),
    ("No changes found necessary: all 12 tests returned OK", "mentions_failure", Success),
    ("No errors found", "mentions_failure", Success),
    (
        "Error handling is a chapter of software engineering. Authentication libraries are a common example of it.",
        "mentions_failure",
        Success,
    ),
    (
        "Can't Buy Me Love is a song by the Beatles. The single was unsupported by a tour.",
        "normal_result",
        Success,
    ),
    ("The API returned 12 rows", "normal_result", Success),
    (
        "Error: the row was left out. Authentication is described in chapter 4.",
        "says_error",
        InvalidArguments,
    ),
    ("Error:\nPage not found", "not_found_answer", ResourceNotFound),
    (
        "Traceback (most recent call last):\n  File \"x.py\"\nConnectionError: x",
        "connection_failed",
        ResourceNotFound,
    ),
    (r#"{"error": 0.02, "estimate": 3.1}"#, "normal_result", Success),
    (r#"{"error": 1, "estimate": 3}"#, "mentions_failure", Success),
    (r#"{"error": 404}"#, "status_not_found", ResourceNotFound),
    (r#"{"status": "unavailable", "product": "kettle"}"#, "mentions_failure", Success),
    (
        r#"{"status": "UNAVAILABLE", "message": "The service is currently unavailable."}"#,
        "backend_error",
        ResourceNotFound,
    ),
];

/// Answers that set `isError`.
const MARKED: &[(&str, &str, Outcome)] = &[
    ("Page 'Xyzzy' not found", "not_found_answer", ResourceNotFound),
    ("Unknown tool: get_wether", "unknown_tool_answer", UnknownTool),
    ("expected string, got null", "invalid_arguments_answer", InvalidArguments),
    ("path outside allowed directories: permission denied", "access_denied", ResourceNotFound),
    ("oops", "is_error", InvalidArguments),
    ("", "is_error", InvalidArguments),
    ("The model has 404 parameters too many", "is_error", InvalidArguments),
    ("upstream returned 502", "status_server_error", ResourceNotFound),
];

#[test]
fn every_example_is_decided_by_its_rule() {
    let mut wrong = Vec::new();
    for (examples, is_error) in [(PLAIN, false), (SHORT, false), (MARKED, true)] {
        for (text, rule, outcome) in examples {
            let result = ToolResult { is_error, ..ToolResult::text(*text) };
            let (found, seen) = Answer::from(&result).decisive_rule();
            if found.name != *rule || found.verdict != Verdict::Outcome(*outcome) {
                wrong.push(format!("{text:?}: {} ({seen}), and should be {rule}", found.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_over_answers_has_an_example() {
    let with: BTreeSet<&str> = PLAIN.iter().chain(SHORT).chain(MARKED).map(|(_, rule, _)| *rule).collect();
    for rule in all_rules() {
        let is_over_answers = super::ANSWER_RULES.iter().any(|answer| answer.rule == *rule);
        assert!(!is_over_answers || with.contains(rule.name), "{} has no example", rule.name);
    }
    for name in [
        "begins_like_failure",
        "is_error",
        "says_error",
        "empty_answer",
        "empty_results",
        "mentions_failure",
        "normal_result",
    ] {
        assert!(with.contains(name), "{name} has no example");
    }
}

#[test]
fn rules_have_different_names() {
    let names: BTreeSet<&str> = all_rules().map(|rule| rule.name).collect();
    assert_eq!(names.len(), all_rules().count());
}

#[test]
fn what_is_no_text_counts_as_content() {
    let image = Content::Image { data: "aGk=".to_owned(), mime_type: "image/png".to_owned() };
    let result = ToolResult { content: vec![image], ..ToolResult::default() };
    assert_eq!(Answer::from(&result).decisive_rule().0.name, "normal_result");
    let structured =
        ToolResult { structured_content: Some(serde_json::json!({"result": 7})), ..ToolResult::default() };
    assert_eq!(Answer::from(&structured).decisive_rule().0.name, "normal_result");
    assert_eq!(Answer::from(&ToolResult::default()).decisive_rule().0.name, "empty_answer");
}

#[test]
fn results_are_read_in_every_form_that_is_recorded() {
    for (recorded, rule) in [
        (r#""Error: Reddit API returned 404""#, "status_not_found"),
        (r#"{"content": [{"type": "text", "text": "Page not found"}], "isError": true}"#, "not_found_answer"),
        (r#"[{"type": "text", "text": "Error: Page not found"}]"#, "not_found_answer"),
        (r#"{"content": []}"#, "empty_answer"),
        (r#"{"structuredContent": {"result": "American eel"}}"#, "normal_result"),
        (r#"{"error": "Page not found"}"#, "not_found_answer"),
        // A list of objects with a `type` is not content of the protocol.
        (r#"[{"type": "error", "message": "404 not found"}]"#, "status_not_found"),
        (r#"{"content": [{"type": "error", "message": "x"}]}"#, "mentions_failure"),
        (r#"[{"type": "hotel", "name": "Eel"}, {"type": "inn", "name": "Pike"}]"#, "normal_result"),
        ("[]", "empty_answer"),
        ("[1, 2]", "normal_result"),
        ("null", "empty_answer"),
        ("[NaN]", "normal_result"),
    ] {
        let (value, _) = json::parse(recorded.as_bytes()).unwrap();
        assert_eq!(Answer::recorded(&value, false).decisive_rule().0.name, rule, "{recorded}");
    }
    let (value, _) = json::parse(b"\"oops\"").unwrap();
    assert_eq!(Answer::recorded(&value, true).decisive_rule().0.name, "is_error");
}

#[test]
fn long_and_strange_answers_are_judged_quickly() {
    let huge = format!("Error: {}", "a ".repeat(4 << 20));
    assert_eq!(Answer::from(&ToolResult::text(huge)).decisive_rule().0.name, "says_error");
    let deep = "[".repeat(1 << 20);
    assert_eq!(Answer::from(&ToolResult::text(deep)).decisive_rule().0.name, "normal_result");
    let open = format!("{{\"a\": {}", "{\"a\":".repeat(100_000));
    assert_eq!(Answer::from(&ToolResult::text(open)).decisive_rule().0.name, "normal_result");
}
