//! Members that commands record in a trajectory, beside the fields that every trajectory has. Each [`Member`] has one
//! type, which is written, read, and described by the schema.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::json::Json;
use super::model::{Call, Task, Trajectory};

/// A member of trajectories that a command of m3 writes.
pub trait Member {
    /// The key of the member.
    const KEY: &'static str;
}

/// The key of the grades by the last rubric, and the key of the list of grades by other rubrics.
const GRADES: [&str; 2] = ["grades", "other_grades"];

impl Trajectory {
    /// The member `key` of the file, if it has no field here.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        value_of(&self.extra, key)
    }

    /// The items of the list `key`, if it has no field here; empty for anything else.
    #[must_use]
    pub fn list(&self, key: &str) -> &[Json] {
        self.get(key).map(Json::items).unwrap_or_default()
    }

    /// The member `key` as a type; also `None` if it has another form, since any program may have written the file.
    #[must_use]
    pub fn get_as<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_value(self.get(key)?.to_value()?).ok()
    }

    /// A recorded member; also `None` if it has another form.
    #[must_use]
    pub fn member<M: Member + DeserializeOwned>(&self) -> Option<M> {
        self.get_as(M::KEY)
    }

    /// Records a member: in its place if there is one already, or as the last one.
    pub fn set_member<M: Member + Serialize>(&mut self, member: &M) {
        let value = Json::from_serde(member);
        match self.extra.iter_mut().find(|(key, _)| key == M::KEY) {
            Some((_, recorded)) => *recorded = value,
            None => self.extra.push((M::KEY.to_owned(), value)),
        }
    }

    /// The explicit form of the task, which says what tools to use.
    #[must_use]
    pub fn prompt(&self) -> Option<&str> {
        self.get("prompt")?.as_str()
    }

    /// What the model was asked: the question or, without one, the explicit form.
    #[must_use]
    pub fn instruction(&self) -> Option<&str> {
        self.question.as_deref().or_else(|| self.prompt())
    }

    /// The number of the repetition of its task that `m3 run` recorded, from 1.
    #[must_use]
    pub fn repeat(&self) -> Option<u64> {
        self.get("run")?.get("repeat")?.as_count()
    }

    /// The name of the model as it was asked for, such as `openai:gpt-5`.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        let model = self.get("model")?;
        model.as_str().or_else(|| model.get("requested")?.as_str())
    }

    /// The duration of the trajectory in milliseconds.
    #[must_use]
    pub fn milliseconds(&self) -> Option<u64> {
        self.get("milliseconds").or_else(|| self.get("run")?.get("milliseconds"))?.as_count()
    }

    /// The grades of panels, one for each rubric, as `m3 grade --graded` writes them: the last one first.
    pub fn grades(&self) -> impl Iterator<Item = &Json> {
        let [last, others] = GRADES;
        self.get(last).into_iter().chain(self.list(others))
    }
}

impl Call {
    /// The member `key` of the file, if it has no field here.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        value_of(&self.extra, key)
    }
}

impl Task {
    /// The member `key` of the file, if it has no field here.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        value_of(&self.extra, key)
    }
}

fn value_of<'j>(members: &'j [(String, Json)], key: &str) -> Option<&'j Json> {
    members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::json::{Keys, parse};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Review {
        state: String,
    }

    impl Member for Review {
        const KEY: &'static str = "review";
    }

    fn trajectory(extra: &str) -> Trajectory {
        let Json::Object(extra) = parse(extra.as_bytes()).unwrap().0 else { panic!("{extra}") };
        Trajectory { extra, ..Trajectory::default() }
    }

    #[test]
    fn a_member_is_replaced_where_it_stands_and_read_again() {
        let mut recorded = trajectory(r#"{"review": [1e999], "level": 3}"#);
        assert_eq!(recorded.member::<Review>(), None);
        recorded.set_member(&Review { state: "open".to_owned() });
        let text = recorded.to_json().to_text(Keys::AsRead);
        assert_eq!(text, r#"{"id":"","steps":[],"review":{"state":"open"},"level":3}"#);
        assert_eq!(recorded.member(), Some(Review { state: "open".to_owned() }));
    }

    #[test]
    fn what_was_recorded_is_read_and_other_forms_are_nothing() {
        let recorded = trajectory(
            r#"{"prompt": "Crop it.", "run": {"repeat": 2, "milliseconds": 7}, "model": {"requested": "a:b"}}"#,
        );
        assert_eq!((recorded.instruction(), recorded.repeat()), (Some("Crop it."), Some(2)));
        assert_eq!((recorded.model(), recorded.milliseconds()), (Some("a:b"), Some(7)));
        let odd = trajectory(r#"{"prompt": 1, "run": {"repeat": -2}, "model": [], "milliseconds": "7"}"#);
        assert_eq!(
            (odd.instruction(), odd.repeat(), odd.model(), odd.milliseconds()),
            (None, None, None, None)
        );
    }

    #[test]
    fn grades_by_all_rubrics_are_found() {
        let graded = trajectory(r#"{"other_grades": [{"rubric": "b"}], "grades": {"rubric": "a"}}"#);
        let rubrics: Vec<_> = graded.grades().filter_map(|grades| grades.get("rubric")?.as_str()).collect();
        assert_eq!(rubrics, ["a", "b"]);
        assert_eq!(trajectory(r#"{"other_grades": 1}"#).grades().count(), 0);
    }
}
