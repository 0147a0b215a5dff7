//! Whether trajectories did their job, in the JSON of a score: `docs/verdict.md`.

use m3_score::{CallPlace, ExactSums, Job, JobFact, JobVerdict, Metric, Profile, WorstCall};
use m3_stats::LEVEL;
use m3_stats::agreement::share_interval;
use m3_support::text::{counted, shortened};
use schemars::JsonSchema;
use serde::Serialize;

/// The longest name of a tool or an argument in a reason, in columns.
const NAME: usize = 60;

/// Whether a trajectory did its job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct JobReport {
    /// `did` from a probability of 0.8 on, `did_not` below 0.2, else `cannot_tell`.
    #[schemars(extend("enum" = ["did", "did_not", "cannot_tell"]))]
    pub verdict: &'static str,
    /// The probability that the trajectory did its job, in (0, 1): the metric `verdict`.
    pub probability: f64,
    /// The lowest fidelity of the reference's calls that change something, or may; of all calls where every one looks.
    pub lowest_change: f64,
    /// The lowest fidelity of all reference calls.
    pub lowest: f64,
    /// The share of extra changes, in [0, 1).
    pub extra_changes: f64,
    /// The agreement of the artifacts that both leave behind; null where it is not known.
    pub artifacts: Option<f64>,
    /// How well the final reply agrees with the reference's; null where it is not known.
    pub answer: Option<f64>,
    /// Whether the job is bound to the reference's path: one of the reference's calls is known to change something, or
    /// returned a picture. If not, the other numbers count half.
    pub is_bound: bool,
    /// The reasons for the probability, the strongest first.
    pub reasons: Vec<JobReason>,
}

/// A reason for a probability.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct JobReason {
    /// The reason in words.
    pub text: String,
    /// The reference call that it is about; null if it is about none.
    pub reference: Option<CallPlace>,
    /// The predicted call that it is about; null if it is about none.
    pub predicted: Option<CallPlace>,
}

/// How many trajectories of a set did their job.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct JobsReport {
    /// Trajectories that did their job.
    pub did: u64,
    /// Trajectories that did not do their job.
    pub did_not: u64,
    /// Trajectories whose verdict is `cannot_tell`.
    pub cannot_tell: u64,
    /// The lower end of the interval of the share that did their job (the metric `verdict`), in [0, 1]: Wilson's, at
    /// 0.95, for tasks of this kind. It does not include errors that all verdicts share.
    pub low: f64,
    /// The upper end of this interval.
    pub high: f64,
}

impl JobsReport {
    /// Counts the verdicts of a set; `None` if no trajectory has a verdict.
    pub(super) fn new(sums: &ExactSums, profile: Profile) -> Option<Self> {
        let (did, did_not, cannot_tell) = (sums.did, sums.did_not, sums.cannot_tell());
        let share = sums.metrics(profile).get(Metric::Verdict)?;
        let interval = share_interval(share, did.saturating_add(did_not).saturating_add(cannot_tell), LEVEL)?;
        Some(Self { did, did_not, cannot_tell, low: interval.low, high: interval.high })
    }

    /// In words: `12 did, 3 did not, 5 cannot tell`.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{} did, {} did not, {} cannot tell", self.did, self.did_not, self.cannot_tell)
    }
}

impl From<&Job> for JobReport {
    fn from(job: &Job) -> Self {
        let evidence = &job.evidence;
        let probability = evidence.probability();
        Self {
            verdict: JobVerdict::new(probability).name(),
            probability,
            lowest_change: evidence.lowest_change,
            lowest: evidence.lowest,
            extra_changes: evidence.extra_changes,
            artifacts: evidence.artifacts,
            answer: evidence.answer,
            is_bound: evidence.is_bound,
            reasons: job.facts.iter().map(JobReason::from).collect(),
        }
    }
}

impl JobReport {
    /// The verdict in words, with its probability: `did not do the job (0.09)`.
    #[must_use]
    pub fn words(&self) -> String {
        // 1.00 and 0.00 would be certainties.
        format!("{} ({:.2})", JobVerdict::new(self.probability).words(), self.probability.clamp(0.01, 0.99))
    }

    /// The verdict and its first reasons in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let reasons: Vec<&str> = self.reasons.iter().take(2).map(|reason| reason.text.as_str()).collect();
        let loose = if self.is_bound {
            ""
        } else {
            "; no call is known to change something, so other ways may do as well"
        };
        format!("{}: {}{loose}", self.words(), reasons.join("; "))
    }
}

impl From<&JobFact> for JobReason {
    fn from(fact: &JobFact) -> Self {
        let name = |name: &str| shortened(name, NAME);
        let and = |others: usize| if others == 0 { String::new() } else { format!(", and {others} more") };
        let (reference, predicted) = match fact {
            JobFact::Differ { worst: WorstCall { reference, compared, .. }, .. } => {
                (Some(*reference), compared.as_ref().map(|(place, _)| *place))
            }
            JobFact::Extra { first, .. } => (None, Some(*first)),
            _ => (None, None),
        };
        let text = match fact {
            JobFact::Differ { change, worst, others } => {
                let WorstCall { has_failed, tool, compared, .. } = worst;
                let tool = name(tool);
                let does = if *change { "" } else { ", which only looks," };
                let what = match compared {
                    Some(_) if *has_failed => format!("{tool}{does} failed"),
                    None => format!("{tool}{does} was not called as needed"),
                    Some((_, argument)) if argument.is_empty() => format!("{tool}{does} has other arguments"),
                    Some((_, argument)) => {
                        format!("{tool}{does} has another `{}`", name(argument.trim_start_matches('/')))
                    }
                };
                what + &and(*others)
            }
            JobFact::Extra { tool, changes, others, .. } => {
                let does = if *changes { "changes" } else { "may change" };
                format!("{} is extra and {does} something{}", name(tool), and(*others))
            }
            JobFact::Artifacts { agreement } => {
                // 1.00 is only for equal artifacts.
                let shown = if *agreement < 1.0 { agreement.min(0.99) + 0.0 } else { 1.0 };
                format!("what is left behind agrees with {shown:.2}")
            }
            JobFact::Answer { reason: Some(reason), .. } => format!("the answer {}", name(reason)),
            JobFact::Answer { agreement, .. } if *agreement >= 1.0 => "the answer agrees".to_owned(),
            JobFact::Answer { agreement, .. } => {
                format!("the answer agrees with {:.2}", agreement.min(0.99))
            }
            JobFact::AllMade { reached_without: 0 } => {
                "every call of the reference is made, and nothing else is changed".to_owned()
            }
            JobFact::AllMade { reached_without } => {
                let calls = counted(*reached_without, "call");
                format!("{calls} of the reference not made, but all that they lead to is left behind")
            }
        };
        Self { text, reference, predicted }
    }
}
