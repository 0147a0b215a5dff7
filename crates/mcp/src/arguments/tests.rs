//! What schemas accept, and what they may cost.

use serde_json::json;

use super::*;

fn prepared(schema: &Value) -> Result<ArgumentSchema, SchemaError> {
    ArgumentSchema::new(schema.as_object().unwrap())
}

/// Whether a schema can be checked for these arguments, and whether they fit.
fn fits(schema: &Value, arguments: &Value) -> Option<bool> {
    prepared(schema).and_then(|schema| schema.problems(arguments)).ok().map(|problems| problems.is_empty())
}

/// Why they cannot be checked.
#[track_caller]
fn refusal(schema: &Value, arguments: &Value) -> String {
    prepared(schema).and_then(|schema| schema.problems(arguments)).unwrap_err().reason
}

/// Definitions `d0` to `d40` of which each is made from a reference to the next one; the last one is an integer.
fn nested(depth: usize, definition: &dyn Fn(Value) -> Value) -> Value {
    let mut definitions: Map<String, Value> = (0..depth)
        .map(|at| (format!("d{at}"), definition(json!({ "$ref": format!("#/$defs/d{}", at + 1) }))))
        .collect();
    definitions.insert(format!("d{depth}"), json!({"type": "integer"}));
    json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
}

#[test]
fn definitions_that_refer_to_one_another_twice_are_not_checked() {
    let bombs: [&dyn Fn(Value) -> Value; 9] = [
        &|next| json!({"anyOf": [next, next]}),
        &|next| json!({"allOf": [next, {"anyOf": [next, {}]}]}),
        &|next| json!({"oneOf": [next, {"not": next}]}),
        &|next| json!({"if": next, "then": next, "else": next}),
        &|next| json!({"dependentSchemas": {"x": next, "y": next}, "anyOf": [{"allOf": [next]}, next]}),
        &|next| json!({"not": {"allOf": [{"not": next}, {"not": next}]}}),
        &|next| json!({"anyOf": [next, next], "unevaluatedProperties": false}),
        &|next| json!({"allOf": [next, next], "unevaluatedItems": next}),
        &|next| json!({"$ref": next["$ref"], "anyOf": [next, {"allOf": [next]}]}),
    ];
    for (at, bomb) in bombs.iter().enumerate() {
        let error = prepared(&nested(40, bomb)).unwrap_err();
        assert!(error.reason.contains("steps"), "{at}: {}", error.reason);
        assert!(prepared(&nested(3, bomb)).is_ok(), "{at}");
    }
}

/// What only some arguments lead to is known when they come. The same arguments are judged alike, whatever was checked before.
#[test]
fn what_was_too_much_changes_nothing_for_other_arguments() {
    let mut schema = nested(40, &|next| json!({"anyOf": [next, next]}));
    schema["properties"]["x"] = json!({"items": {"$ref": "#/$defs/d0"}});
    schema["properties"]["list"] = json!({"items": {"type": "integer"}});
    let schema = prepared(&schema).unwrap();
    let mut list = vec![json!(1); 30_000];
    list.push(json!("no"));
    let long = json!({ "list": list });
    let before = schema.problems(&long).unwrap();
    assert_eq!(before[0].pointer, "/list/30000");
    for _ in 0..9 {
        let error = schema.problems(&json!({"x": ["no"]})).unwrap_err();
        assert!(error.reason.contains("it would take more than"), "{error}");
    }
    assert_eq!(schema.problems(&long), Ok(before));
    assert_eq!(schema.problems(&json!({"x": [1]})), Ok(Vec::new()));
}

/// Each of these made minutes or gigabytes of a small schema: texts that are matched, values that are compared, errors that copy
/// what they are about, sizes.
#[test]
fn what_costs_more_than_its_steps_is_not_checked() {
    let object = |x: Value| json!({"type": "object", "properties": {"x": x}});
    let many = |part: Value, count: usize| Value::Array(vec![part; count]);
    let numbers: Value = (0..3000).collect();
    let properties: Map<String, Value> = (0..2000).map(|at| (format!("p{at}"), json!({}))).collect();
    let digits = Value::from("01".repeat(100_000));
    let cases = [
        (json!({"pattern": "1[01]{3000}[\u{100}-\u{fff}]"}), digits.clone(), "too large for texts"),
        (
            json!({"patternProperties": {"1[01]{3000}2": {}}}),
            json!({(digits.as_str().unwrap()): 1}),
            "too large",
        ),
        (json!({"pattern": "\\p{L}".repeat(1000)}), digits.clone(), "4096 bytes"),
        (json!({"allOf": many(json!({"uniqueItems": true}), 3000)}), numbers.clone(), "steps"),
        (json!({"allOf": many(json!({"const": numbers}), 7)}), numbers.clone(), "20000 values"),
        (json!({"allOf": many(json!({}), 30_000)}), json!(1), "20000 values"),
    ];
    for (x, value, expected) in cases {
        let checked = prepared(&object(x)).and_then(|schema| schema.problems(&json!({ "x": value })));
        let error = checked.unwrap_err();
        assert!(error.reason.contains(expected), "{expected}: {error}");
    }
    // That these do not fit is known, and not every reason is listed: each would have a copy of its own.
    let denied = json!({"items": {"not": {"properties": properties}}});
    for (x, value) in [
        (json!({"anyOf": many(json!({"type": "integer"}), 3000)}), digits),
        (denied, many(json!("no"), 9000)),
    ] {
        let problems = prepared(&object(x)).unwrap().problems(&json!({ "x": value })).unwrap();
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
}

/// A schema that allows nothing says so, and not how that is counted.
#[test]
fn what_is_allowed_nowhere_is_said_in_words() {
    let problems =
        prepared(&json!({"properties": {"x": false}})).unwrap().problems(&json!({"x": 1})).unwrap();
    assert_eq!(
        (problems[0].keyword.as_str(), problems[0].message.as_str()),
        ("false", "nothing is allowed here")
    );
}

/// However a reference is written: the validator follows it, and so its steps are counted.
#[test]
fn references_of_every_kind_are_counted() {
    let twice = |reference: String| json!([{"$ref": reference}, {"$ref": reference}]);
    let definitions = |definition: &dyn Fn(usize) -> Value| -> Map<String, Value> {
        (0..=40).map(|at| (format!("d{at}"), definition(at))).collect()
    };
    let last = |at: usize, more: Value| {
        let mut part = more;
        if at == 40 {
            part["type"] = json!("integer");
            part.as_object_mut().unwrap().remove("anyOf");
        }
        part
    };
    let start = |draft: &str, first: &str, key: &str, parts: Map<String, Value>| {
        let mut schema = json!({"$schema": draft, "properties": {"x": {"$ref": first}}});
        schema[key] = Value::Object(parts);
        schema
    };
    let newest = "https://json-schema.org/draft/2020-12/schema";
    let anchors = definitions(&|at| {
        last(at, json!({"$anchor": format!("a{at}"), "anyOf": twice(format!("#a{}", at + 1))}))
    });
    let dynamic = definitions(&|at| {
        let next = json!({"$dynamicRef": format!("#a{}", at + 1)});
        last(at, json!({"$dynamicAnchor": format!("a{at}"), "anyOf": [next, next]}))
    });
    let old_names = |id: &str| {
        definitions(&|at| {
            let mut part = last(at, json!({"anyOf": twice(format!("#d{}", at + 1))}));
            part[id] = json!(format!("#d{at}"));
            part
        })
    };
    let names = definitions(&|at| {
        last(at, json!({"$id": format!("/a/./d{at}"), "anyOf": twice(format!("http://E.com/a/d{}", at + 1))}))
    });
    let encoded = definitions(&|at| last(at, json!({"anyOf": twice(format!("#/$defs/%64{}", at + 1))})));
    let within = |key: &str| {
        let parts =
            definitions(&|at| last(at, json!({"anyOf": twice(format!("#/{key}/$defs/d{}", at + 1))})));
        let mut schema = json!({"properties": {"x": {"$ref": format!("#/{key}/$defs/d0")}}});
        let mut place = &mut schema;
        for key in key.split('/') {
            place = &mut place[key];
        }
        *place = json!({ "$defs": parts });
        schema
    };
    let mut with_root = start(newest, "http://e.com/a/d0", "$defs", names);
    with_root["$id"] = json!("http://e.com/root");
    for (at, schema) in [
        start(newest, "#a0", "$defs", anchors),
        start(newest, "#a0", "$defs", dynamic),
        start("http://json-schema.org/draft-07/schema#", "#d0", "definitions", old_names("$id")),
        start("http://json-schema.org/draft-06/schema#", "#d0", "definitions", old_names("$id")),
        start("http://json-schema.org/draft-04/schema#", "#d0", "definitions", old_names("id")),
        with_root,
        start(newest, "#/$defs/d0", "$defs", encoded),
        within("default"),
        within("properties/default"),
        within("properties/enum"),
        within("x-parts"),
        within("properties/properties/additionalProperties"),
    ]
    .iter()
    .enumerate()
    {
        let reason = refusal(schema, &json!({"x": "no"}));
        assert!(reason.contains("steps"), "{at}: {reason}");
    }
    assert!(refusal(&within("const"), &json!({"x": "no"})).contains("to a value"));
}

/// Parts that end without a look at the value count too, and what cannot count is not referred to.
#[test]
fn parts_that_look_at_nothing_are_counted() {
    for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        for last in [
            json!(false),
            json!({"not": true}),
            json!({"oneOf": [true, true]}),
            json!({"if": true, "then": false}),
            json!({"not": {"$ref": "#/$defs/all"}}),
            json!({"not": {"$ref": "#/x-all/0"}}),
            json!({"$ref": "#/$defs/open/additionalProperties"}),
            json!({"not": {"$ref": "#/$defs/closed/x-open"}}),
        ] {
            let mut schema = nested(40, &|next| json!({"anyOf": [next, next]}));
            schema["$schema"] = json!(draft);
            schema["x-all"] = json!([true]);
            schema["$defs"]["all"] = json!(true);
            schema["$defs"]["open"] = json!({"additionalProperties": false});
            schema["$defs"]["closed"] = json!({"x-open": true});
            schema["$defs"]["d40"] = last.clone();
            let reason = refusal(&schema, &json!({"x": 1}));
            let is_known = ["steps", "to a value"].iter().any(|word| reason.contains(word));
            assert!(is_known, "{draft} {last}: {reason}");
        }
    }
}

/// As programs that make schemas from types refer to a type that stood somewhere before.
#[test]
fn references_to_any_place_of_a_schema_are_followed() {
    let schema = json!({
        "properties": {
            "a": {"type": "object", "additionalProperties": {"type": "integer"}},
            "b": {"type": "object", "additionalProperties": {"$ref": "#/properties/a/additionalProperties"}},
            "c": {"type": "object", "properties": {"const": {"enum": [true, {"k": 1}]}, "d": {"$ref": "#/properties/a"}}, "additionalProperties": false},
        },
        "additionalProperties": false,
    });
    assert_eq!(fits(&schema, &json!({"b": {"x": 1}, "c": {"d": {"x": 1}, "const": {"k": 1}}})), Some(true));
    assert_eq!(fits(&schema, &json!({"b": {"x": "1"}})), Some(false));
    assert_eq!(fits(&schema, &json!({"c": {"d": {"x": "1"}}})), Some(false));
}

/// What looks into the value takes as many steps as the value has parts.
#[test]
fn definitions_that_look_into_the_value_are_checked_as_far_as_it_goes() {
    let bombs: [&dyn Fn(Value) -> Value; 4] = [
        &|next| json!({"properties": {"a": next, "b": next}}),
        &|next| json!({"items": {"anyOf": [next, next]}}),
        &|next| json!({"patternProperties": {"a": {"not": {"not": next}}, "a+": {"anyOf": [next, next]}}}),
        &|next| json!({"additionalProperties": {"anyOf": [next, next]}}),
    ];
    let deep = |depth: usize, inner: Value, outer: &dyn Fn(Value) -> Value| {
        (0..depth).fold(inner, |value, _| outer(value))
    };
    for (at, bomb) in bombs.iter().enumerate() {
        let wrap = |value: Value| if at == 1 { json!([value]) } else { json!({"a": value}) };
        let schema = nested(40, bomb);
        assert_eq!(fits(&schema, &json!({"x": wrap(json!(1))})), Some(true));
        assert_eq!(fits(&schema, &json!({"y": 1})), Some(true));
        let all_the_way = json!({"x": deep(40, json!("no"), &wrap)});
        // `properties` and the first of two patterns end it early.
        let wanted = if at % 2 == 0 { Some(false) } else { None };
        assert_eq!(fits(&schema, &all_the_way), wanted, "{at}");
        let short = json!({"x": deep(4, json!("no"), &wrap)});
        assert_eq!(fits(&nested(4, bomb), &short), Some(false), "{at}");
    }
}

#[test]
fn circles_end_and_depths_are_not_checked() {
    // What refers to itself without looking into the value says nothing.
    for circle in [
        json!({"$ref": "#"}),
        json!({"$id": "https://example.com/a", "allOf": [{"$ref": "https://example.com/a"}]}),
        json!({"$defs": {"x": {"$id": "x.json", "$ref": "#/$defs/x", "$defs": {"x": {"type": "object"}}}}, "$ref": "#/$defs/x"}),
    ] {
        assert_eq!(fits(&circle, &json!({"x": 1})), Some(true), "{circle}");
    }
    let tree =
        json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "n": {"type": "integer"}}});
    assert_eq!(fits(&tree, &json!({"left": {"right": {"n": 1}}})), Some(true));
    assert_eq!(fits(&tree, &json!({"left": {"right": {"n": "1"}}})), Some(false));

    let wrapped = |key: &str, inner: Value| Value::Object(Map::from_iter([(key.to_owned(), inner)]));
    let inline = (0..600).fold(json!({}), |schema, _| wrapped("items", schema));
    assert!(prepared(&inline).unwrap_err().reason.contains("512 deep"));
    let chain = nested(5000, &|next| next);
    assert!(prepared(&chain).unwrap_err().reason.contains("references"));
    for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"] {
        let mut long = nested(900, &|next| next);
        long["$schema"] = json!(draft);
        assert_ne!(fits(&long, &json!({"x": "1"})), Some(true));
        let mut long = nested(900, &|next| json!({"allOf": [next]}));
        long["$schema"] = json!(draft);
        assert_ne!(fits(&long, &json!({"x": "1"})), Some(true));
    }
    let long = nested(100, &|next| json!({"allOf": [next]}));
    assert_eq!((fits(&long, &json!({"x": 1})), fits(&long, &json!({"x": "1"}))), (Some(true), Some(false)));
    let value = |depth: usize| (0..depth).fold(json!(1), |value, _| wrapped("left", value));
    assert_eq!(fits(&tree, &value(100)), Some(true));
    assert_eq!(fits(&tree, &value(600)), None);
}

#[test]
fn patterns_take_linear_time_and_little_memory() {
    let pattern = |pattern: &str| json!({"properties": {"x": {"type": "string", "pattern": pattern}}});
    let text = json!({"x": "a".repeat(50_000) + "!"});
    assert_eq!(fits(&pattern("^(a+)+$"), &text), Some(false));
    assert_eq!(fits(&pattern("^(a|a)*$"), &text), Some(false));
    assert_eq!(fits(&pattern("^(a|aa)+$"), &text), Some(false));
    assert!(prepared(&pattern("((a{100}){100}){100}")).is_err());
    // What many would take together is bounded too.
    let many = |count: usize| -> Map<String, Value> {
        (0..count)
            .map(|at| (format!("x{at}"), json!({ "pattern": format!("^(?:\\w{{90}}\\W{{90}})+{at}$") })))
            .collect()
    };
    assert!(prepared(&json!({ "properties": many(2) })).is_ok());
    let reason = prepared(&json!({ "properties": many(100) })).unwrap_err().reason;
    assert!(reason.contains("is too large"), "{reason}");
    let reason = prepared(&pattern("^(?=a)")).unwrap_err().reason;
    assert!(reason.starts_with("the pattern \"^(?=a)\" looks around"), "{reason}");
    let many: Map<String, Value> =
        (0..2000).map(|at| (format!("x{at}"), json!({ "pattern": format!("^x{at}$") }))).collect();
    assert!(prepared(&json!({ "properties": many })).unwrap_err().reason.contains("regular expressions"));
    // What servers ask for: a path of IPv6, a mail address, a time.
    let ipv6 = (0..8).map(|_| "[0-9a-fA-F]{1,4}").collect::<Vec<_>>().join(":");
    for usual in [
        format!("^({ipv6}|(([0-9a-fA-F]{{1,4}}:){{1,7}}:)|::([0-9a-fA-F]{{1,4}}:){{0,6}}[0-9a-fA-F]{{1,4}})$"),
        "^[A-Za-z0-9_'+\\-\\.]+@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,64}$".to_owned(),
        "^((\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)))T([01]\\d|2[0-3]):[0-5]\\d$".to_owned(),
        "^[\\w.-]{1,255}$".to_owned(),
        "^[^\\s/]{1,64}$".to_owned(),
    ] {
        assert_eq!(fits(&pattern(&usual), &json!({"x": ""})), Some(false), "{usual}");
    }
}

/// Every name may be matched with every expression, each of which is small.
#[test]
fn names_count_for_all_expressions_together() {
    let schema = |count: usize| {
        let pattern = |at: usize| (format!("^[ab]*c{at}$"), json!({"type": "string"}));
        json!({"patternProperties": (0..count).map(pattern).collect::<Map<_, _>>()})
    };
    let names: Map<String, Value> = (0..20_000).map(|at| (format!("n{at:06}"), json!("x"))).collect();
    let names = Value::Object(names);
    assert_eq!(fits(&schema(2), &names), Some(true));
    let reason = refusal(&schema(450), &names);
    assert!(reason.contains("too large for texts of this length"), "{reason}");
}

#[test]
fn what_is_only_large_is_checked() {
    let choices: Vec<String> = (0..10_000).map(|at| format!("choice {at}")).collect();
    let schema = json!({"properties": {"x": {"enum": choices}, "list": {"items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}}});
    let list: Vec<usize> = (0..100_000).collect();
    assert_eq!(fits(&schema, &json!({"x": "choice 9999", "list": list})), Some(true));
    assert_eq!(fits(&schema, &json!({"x": "choice", "list": list})), Some(false));
    let branches: Vec<Value> = (0..2000).map(|at| json!({"const": at})).collect();
    assert_eq!(fits(&json!({"properties": {"x": {"anyOf": branches}}}), &json!({"x": 1999})), Some(true));
    let kind = |at: usize| json!({"properties": {"kind": {"const": at}}, "required": ["kind"]});
    let union: Vec<Value> = (0..40).map(kind).collect();
    let schema = json!({"properties": {"list": {"items": {"$ref": "#/$defs/any"}}}, "$defs": {"any": {"anyOf": union}}});
    let list = |kind: usize| json!({"list": vec![json!({ "kind": kind }); 1000]});
    assert_eq!((fits(&schema, &list(39)), fits(&schema, &list(40))), (Some(true), Some(false)));
}

/// What a keyword lists counts, and of millions of problems some are told.
#[test]
fn long_lists_of_keywords_and_of_problems_are_bounded() {
    let names: Vec<String> = (0..2000).map(|at| format!("name {at}")).collect();
    let required = json!({"properties": {"list": {"items": {"required": names}}}});
    let empty = |count: usize| json!({"list": vec![json!({}); count]});
    let problems = prepared(&required).unwrap().problems(&empty(500)).unwrap();
    assert_eq!(problems.len(), 1);
    assert_eq!((problems[0].pointer.as_str(), problems[0].keyword.as_str()), ("/list/0", "required"));
    assert_eq!(prepared(&required).unwrap().problems(&empty(3)).unwrap().len(), 20);
    let objects: Vec<Value> = (0..5000).map(|at| json!({ "a": at })).collect();
    let choice = json!({"properties": {"list": {"items": {"enum": objects}}}});
    assert!(refusal(&choice, &json!({"list": vec![json!({"a": 4999}); 20_000]})).contains("steps"));
}

/// The keyword that counts is seen nowhere, and changes nothing.
#[test]
fn nobody_sees_that_steps_are_counted() {
    let schema = json!({
        "properties": {"a": {"not": {"type": "integer"}}, "b": {"const": {"c": 1}}, "d": {"enum": [{"e": []}]}},
        "dependentRequired": {"a": ["b"]},
        "additionalProperties": false,
        "maxProperties": 3,
    });
    let schema = prepared(&schema).unwrap();
    let problems = |arguments: &Value| -> Vec<String> {
        schema.problems(arguments).unwrap().into_iter().map(|problem| problem.message).collect()
    };
    assert_eq!(problems(&json!({"a": "x", "b": {"c": 1}, "d": {"e": []}})), [""; 0]);
    assert_eq!(problems(&json!({"a": 1, "b": {"c": 1}})), [r#"{"type":"integer"} is not allowed for 1"#]);
    assert_eq!(problems(&json!({" m3 step": 1})).len(), 1);
    assert_eq!(problems(&json!({"a": "x"})).len(), 1);
}
