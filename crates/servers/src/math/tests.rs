//! Tests of the math server.

use super::*;

fn call(tool: &str, arguments: Value) -> Answer {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    MathServer::default().answer(tool, arguments)
}

fn text(tool: &str, arguments: Value) -> String {
    match call(tool, arguments) {
        Answer::Result(result) => {
            assert!(!result.is_error);
            result.all_text()
        }
        other => panic!("{other:?}"),
    }
}

fn two(tool: &str, first: f64, second: f64) -> String {
    let server = MathServer::default();
    let tool = server.tools().iter().find(|known| known.name == tool).unwrap();
    let names = tool.input_schema["required"].as_array().unwrap();
    text(&tool.name, json!({names[0].as_str().unwrap(): first, names[1].as_str().unwrap(): second}))
}

#[test]
fn two_numbers_give_what_javascript_gives() {
    // Printed by Node.js 20.20.2.
    let cases = [
        ("add", 0.1, 0.7, "0.7999999999999999"),
        ("add", 0.1, 0.2, "0.30000000000000004"),
        ("subtract", 1.0, 3.0, "-2"),
        ("multiply", 4.35, 100.0, "434.99999999999994"),
        ("multiply", 1e308, 10.0, "Infinity"),
        ("multiply", -1e308, 10.0, "-Infinity"),
        ("multiply", -1.0, 0.0, "0"),
        ("division", 1.0, 3.0, "0.3333333333333333"),
        ("division", 7.0, 0.0, "Infinity"),
        ("division", -7.0, 0.0, "-Infinity"),
        ("division", 0.0, 0.0, "NaN"),
        ("modulo", -5.0, 3.0, "-2"),
        ("modulo", 5.0, -3.0, "2"),
        ("modulo", 5.5, 2.0, "1.5"),
        ("modulo", 5.0, 0.0, "NaN"),
        ("modulo", 0.0, 5.0, "0"),
        ("modulo", 1e308, 3.0, "2"),
    ];
    for (tool, first, second, expected) in cases {
        assert_eq!(two(tool, first, second), expected, "{tool} of {first} and {second}");
    }
}

#[test]
fn one_number_gives_what_javascript_gives() {
    // Printed by Node.js 20.20.2; `180` is Math.PI * (180 / Math.PI).
    let pi = std::f64::consts::PI;
    let cases = [
        ("floor", -2.5, "-3"),
        ("floor", 2.9, "2"),
        ("ceiling", 2.1, "3"),
        ("ceiling", -0.5, "0"),
        ("round", 2.5, "3"),
        ("round", -2.5, "-2"),
        ("round", -1.5, "-1"),
        ("round", -0.5, "0"),
        ("round", 0.499_999_999_999_999_94, "0"),
        ("round", 4_503_599_627_370_495.5, "4503599627370496"),
        ("round", 1e300, "1e+300"),
        ("sin", 1.0, "0.8414709848078965"),
        ("cos", 1.0, "0.5403023058681398"),
        ("tan", 1.0, "1.5574077246549023"),
        ("arcsin", 0.5, "0.5235987755982989"),
        ("arccos", 0.5, "1.0471975511965979"),
        ("arctan", 1.0, "0.7853981633974483"),
        ("arcsin", 2.0, "NaN"),
        ("arccos", -1.1, "NaN"),
        ("radiansToDegrees", pi, "180"),
        ("radiansToDegrees", 1.0, "57.29577951308232"),
        ("degreesToRadians", 180.0, "3.141592653589793"),
        ("degreesToRadians", 90.0, "1.5707963267948966"),
    ];
    for (tool, number, expected) in cases {
        assert_eq!(text(tool, json!({"number": number})), expected, "{tool} of {number}");
    }
}

#[test]
fn lists_give_what_the_definitions_say() {
    // By hand. The list of ten has the sum 55 of 1 to 10; texts would sort 10 before 2.
    let cases = [
        ("sum", json!([0.1, 0.2, 0.3]), "0.6000000000000001"),
        ("sum", json!([1e308, 1e308]), "Infinity"),
        ("mean", json!([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]), "5.5"),
        ("median", json!([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]), "5.5"),
        ("median", json!([10, 9, 100]), "10"),
        ("median", json!([-1, -2]), "-1.5"),
        ("median", json!([7]), "7"),
        ("mode", json!([3, 1, 3, 2, 1]), "Entries (3, 1) appeared 2 times"),
        ("mode", json!([0, -0.0, 1]), "Entries (0) appeared 2 times"),
        ("mode", json!([]), "Entries () appeared 0 times"),
        ("min", json!([3, -1, 2]), "-1"),
        ("max", json!([3, -1, 2]), "3"),
        // Math.min() and Math.max() without arguments.
        ("min", json!([]), "Infinity"),
        ("max", json!([]), "-Infinity"),
    ];
    for (tool, numbers, expected) in cases {
        assert_eq!(text(tool, json!({"numbers": numbers})), expected, "{tool} of {numbers}");
    }
}

#[test]
fn what_does_not_fit_is_refused_with_its_place() {
    let refused = |tool: &str, arguments: Value| match call(tool, arguments) {
        Answer::InvalidArguments(message) => message,
        other => panic!("{other:?}"),
    };
    let message = refused("add", json!({"firstNumber": "1", "secondNumber": 2}));
    assert!(message.contains("`/firstNumber`") && message.contains("number"), "{message}");
    assert!(refused("add", json!({"firstNumber": 1})).contains("secondNumber"));
    // As in the benchmark, `SecondNumber` and not `secondNumber`.
    assert!(refused("multiply", json!({"firstNumber": 1, "secondNumber": 2})).contains("SecondNumber"));
    assert!(refused("sin", json!({"number": 1, "unit": "degrees"})).contains("unit"));
    assert!(refused("sum", json!({"numbers": []})).contains("[]"));
    assert!(refused("max", json!({"numbers": [1, null]})).contains("/numbers/1"));
    assert_eq!(call("power", json!({})), Answer::UnknownTool);
}

#[test]
fn there_are_as_many_tools_as_in_the_benchmark() {
    assert_eq!(MathServer::default().tools().len(), 22);
}

/// The parts of a schema that restrict calls: names, types, items, lengths; not the descriptions.
fn shape(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => members
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "description" | "$schema"))
            .map(|(key, value)| (key.clone(), shape(value)))
            .collect(),
        other => other.clone(),
    }
}

#[test]
fn tools_are_those_of_the_catalog() {
    let Some(path) = m3_testkit::shared("open-m3-bench/tools.json") else { return };
    let file = std::fs::read(path).unwrap();
    let catalog: Value = serde_json::from_slice(&file).unwrap();
    let theirs: Vec<(String, Value)> = catalog["math"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| (tool["name"].as_str().unwrap().to_owned(), shape(&tool["inputSchema"])))
        .collect();
    let server = MathServer::default();
    let ours: Vec<(String, Value)> = server
        .tools()
        .iter()
        .map(|tool| (tool.name.clone(), shape(&Value::Object(tool.input_schema.clone()))))
        .collect();
    assert_eq!(ours, theirs);
}
