//! Grades: a panel of models grades predictions.
//!
//! ```text
//! Subject -> question (prompts, fence) -> Panel (store, models) -> GraderAnswer -> GradeReport
//! ```
//!
//! | part | what it does |
//! | --- | --- |
//! | [`Rubric`] | the questions to graders, and the measures that their answers give |
//! | `question` | prompts and evidence of one request, and its key |
//! | `answer` | reads replies, strictly |
//! | [`AnswerStore`] | the answers of earlier runs |
//! | [`Panel`] | asks the graders |
//! | [`GradeReport`] | the trimmed means, what is missing, how far graders agree |
//!
//! The graded content is untrusted: it stands between marks that it cannot know, on lines that it cannot begin, and
//! only the grader's own reply is read. Whether a grader is impressed all the same is beyond what a program can check;
//! labels of people show it.

mod agreement;
mod answer;
mod collected;
mod compared;
mod conversation;
mod label_rows;
mod panel;
mod people;
mod question;
mod report;
mod rubric;
mod shown;
mod statistics;
mod store;
mod subject;

pub use answer::{Answer, ReadReply};
pub use collected::{CollectedGrades, GradedSubject, GradedTasks};
pub use conversation::Listeners;
pub use panel::{Grader, GraderAnswer, Panel, PanelAnswers};
pub use people::{PeopleError, PeopleLabels, PersonSays, RunLabels};
pub use question::{Question, prompts_hash, question};
pub use report::{
    AgreementReport, ConsistencyReport, GRADES_SCHEMA, GradeLedger, GradeReport, GraderGrades, GraderMeasure,
    GraderReport, Grades, MeasureReport, MissingGrade, OtherGrades, PairReport, PeopleRater, PeopleReport,
    RateReport, TrajectoryGrades, WithoutGrader,
};
pub use rubric::{Aspect, Rubric};
pub use shown::offered;
pub use store::{ANSWERS_SCHEMA, AnswerStore, KeptAnswer};
pub use subject::Subject;
