//! The task files of MCP-Bench: groups of tasks, each about the same servers.

use m3_trajectory::Task;

use crate::formats::prelude::*;

/// The format of MCP-Bench's task files.
pub(super) const TASKS: Format = Format {
    name: "mcp-bench-tasks",
    title: "MCP-Bench: tasks",
    recognizes: |head| head.any(|value| value.list("server_tasks").iter().any(|group| group.has("tasks"))),
    read,
};

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    input.values(sink, |sink, record| {
        let Some(found) = mcp_bench_tasks(&record.value) else {
            return sink.skip(record.line, "no `server_tasks`, left out");
        };
        found.left_out.iter().for_each(|what| sink.warn(record.line, what));
        found.tasks.into_iter().try_for_each(|task| {
            let trace = Trace {
                id: Some(task.id),
                task_type: task.task_type,
                prompt: task.prompt,
                question: task.question.as_deref().map(Content::of_text),
                extra: task.extra,
                kind: TraceKind::Task,
                ..Trace::default()
            };
            sink.trace(record.line, trace)
        })
    })
}

/// The content of a task file.
#[derive(Debug, Clone, Default, PartialEq)]
struct FileTasks {
    /// The tasks, in the file's order.
    tasks: Vec<Task>,
    /// Entries that are not read as tasks, each with its place.
    left_out: Vec<String>,
}

/// Members of a group that each of its tasks gets: which servers it is about, and the name of the group.
const OF_GROUP: [&str; 2] = ["servers", "combination_name"];

/// Members of a task that become its id, prompt and question.
const OF_TASK: [&str; 3] = ["task_id", "task_description", "fuzzy_description"];

/// Names that m3's own tasks use: a further member with such a name gets the prefix `task_`.
const TAKEN: [&str; 5] = ["id", "image", "type", "prompt", "question"];

/// The tasks of a file in the form of MCP-Bench's `tasks/*_runner_format.json`: an object with `server_tasks`, a list of groups.
/// `None` for anything else.
///
/// The concrete text becomes the prompt and the fuzzy one the question; the kind of group, such as `single_server`, the type.
/// Everything else stays a further member, such as `servers`, `dependency_analysis` and `distraction_servers`.
fn mcp_bench_tasks(file: &Json) -> Option<FileTasks> {
    let Some(Json::Array(groups)) = file.member("server_tasks") else { return None };
    let mut file_tasks = FileTasks::default();
    for (index, group) in groups.iter().enumerate() {
        let place = format!("/server_tasks/{index}");
        if !matches!(group.member("tasks"), Some(Json::Array(_))) {
            file_tasks.left_out.push(format!("{place}: a group without a list of tasks"));
            continue;
        }
        for (index, item) in group.list("tasks").iter().enumerate() {
            match task(group, item) {
                Ok(task) => file_tasks.tasks.push(task),
                Err(why) => file_tasks.left_out.push(format!("{place}/tasks/{index}: {why}")),
            }
        }
    }
    // `total_tasks` of the published files is 0.
    if file.count("total_tasks").is_some_and(|total| total != file_tasks.tasks.len() as u64) {
        let count = file.count("total_tasks").unwrap_or_default();
        file_tasks
            .left_out
            .push(format!("/total_tasks: says {count}, and there are {} tasks", file_tasks.tasks.len()));
    }
    let others = members(file).iter().filter(|(key, _)| key != "server_tasks" && key != "total_tasks");
    file_tasks.left_out.extend(others.map(|(key, _)| format!("/{key}: is about the file, and in no task")));
    Some(file_tasks)
}

fn task(group: &Json, item: &Json) -> Result<Task, &'static str> {
    let id = item.id("task_id").ok_or("a task without `task_id`")?;
    let text = |key: &str| item.text(key).filter(|text| !text.trim().is_empty()).map(str::to_owned);
    let (prompt, question) = (text("task_description"), text("fuzzy_description"));
    if prompt.is_none() && question.is_none() {
        return Err("a task without `task_description` and `fuzzy_description`");
    }
    let mut extra: Vec<(String, Json)> = Vec::new();
    if group.list("servers").is_empty() {
        extra.extend(named_servers(group).map(|servers| ("servers".to_owned(), servers)));
    }
    let own = members(item).iter().filter(|(key, _)| !OF_TASK.contains(&key.as_str()));
    let of_group = members(group).iter().filter(|(key, _)| OF_GROUP.contains(&key.as_str()));
    for (key, value) in of_group.chain(own) {
        let key = if TAKEN.contains(&key.as_str()) { format!("task_{key}") } else { key.clone() };
        if *value != Json::Null && extra.iter().all(|(known, _)| *known != key) {
            extra.push((key, value.clone()));
        }
    }
    let task_type = group.text("combination_type").map(str::to_owned);
    Ok(Task { id, image: None, task_type, prompt, question, extra })
}

/// The servers of a group that only names them together, as `A+B`.
fn named_servers(group: &Json) -> Option<Json> {
    let servers = group.text("server_name")?.split('+').map(|name| Json::String(name.trim().to_owned()));
    Some(Json::Array(servers.collect()))
}

#[cfg(test)]
mod tests {
    use m3_testkit::shared;
    use m3_trajectory::WholeFile;
    use m3_trajectory::json::parse;

    use super::*;

    #[test]
    fn published_files() {
        for (name, kind, servers, count) in [
            ("single", "single_server", 1, 56),
            ("multi_2server", "two_server_combinations", 2, 30),
            ("multi_3server", "three_server_combinations", 3, 18),
        ] {
            let path = format!("benchmarks/mcp-bench/tasks/mcpbench_tasks_{name}_runner_format.json.gz");
            let Some(path) = shared(&path) else { return };
            let file = WholeFile::read(&path, 16).unwrap().value;
            let file_tasks = mcp_bench_tasks(&file).unwrap();
            assert_eq!(file_tasks.tasks.len(), count);
            let mut ids: Vec<&str> = file_tasks.tasks.iter().map(|task| task.id.as_str()).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), count);
            for task in &file_tasks.tasks {
                let member = |key: &str| task.get(key);
                assert_eq!(task.task_type.as_deref(), Some(kind));
                assert!(task.prompt.is_some() && task.question.is_some(), "{}", task.id);
                assert_eq!(member("servers").map(|it| it.items().len()), Some(servers));
                assert!(member("dependency_analysis").and_then(Json::as_str).is_some());
                assert!(!member("distraction_servers").map(Json::items).unwrap_or_default().is_empty());
            }
            // `total_tasks` and `generation_info`.
            assert_eq!(file_tasks.left_out.len(), 2, "{:?}", file_tasks.left_out);
        }
    }

    #[test]
    fn what_is_no_task_is_named() {
        let json = |text: &str| parse(text.as_bytes()).unwrap().0;
        for other in ["[]", "{}", "3", r#"{"server_tasks": {}}"#] {
            assert_eq!(mcp_bench_tasks(&json(other)), None, "{other}");
        }
        let file = json(
            r#"{"total_tasks": 1, "server_tasks": [3, {"server_name": "A + B", "tasks": [
                {"task_id": "t", "fuzzy_description": "Why?", "task_description": " ", "type": "x", "note": null, "servers": 7},
                {"task_id": "u"}, {"fuzzy_description": "Why?"}, []]}]}"#,
        );
        let file_tasks = mcp_bench_tasks(&file).unwrap();
        let places: Vec<&str> =
            file_tasks.left_out.iter().filter_map(|it| Some(it.split_once(':')?.0)).collect();
        assert_eq!(
            places,
            [
                "/server_tasks/0",
                "/server_tasks/1/tasks/1",
                "/server_tasks/1/tasks/2",
                "/server_tasks/1/tasks/3"
            ]
        );
        let wanted = json(r#"{"id": "t", "question": "Why?", "servers": ["A", "B"], "task_type": "x"}"#);
        assert_eq!(file_tasks.tasks[0].to_json(), wanted);
    }
}
