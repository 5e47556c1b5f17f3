//! Plans in the forms that present systems take, each with what the target cannot keep of them.
//!
//! | target | scheduler there | keeps | loses |
//! |---|---|---|---|
//! | [`opensm`] | weighted table | distance, weights | exact shares where packets differ in size |
//! | [`pcie`] | basic table | distance | weights |
//! | [`tc`] | deficit round robin | shares | distance |
//! | [`dcb`] | the adapter's own | whole percents | distance, fractions of a percent |
//! | [`scenario`] | the deficit table itself | everything | nothing: it is simulated |
//!
//! Nothing is left out in silence: what a target cannot carry at all is refused with the nearest plan that it can.

use core::fmt;

use serde::Serialize;

use crate::plan::{ClassPlan, Plan};
use crate::quantity::micros;
use crate::target::{Form, Target};

pub mod dcb;
pub mod opensm;
pub mod pcie;
pub mod scenario;
pub(crate) mod surroundings;
pub mod tc;

/// A plan in the form of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Emission {
    /// The file, or the commands.
    pub text: String,
    /// What the target cannot keep, and what is to be checked there; a sentence each.
    pub lost: Vec<String>,
}

/// Why a target cannot carry a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmitError {
    /// The name of the target.
    pub form: &'static str,
    /// What it cannot carry, with the bound.
    pub reason: String,
    /// The nearest plan that it can.
    pub remedy: String,
}

impl EmitError {
    fn new(form: Form, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { form: form.name(), reason: reason.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot carry the plan: {}: {}", self.form, self.reason, self.remedy)
    }
}

impl std::error::Error for EmitError {}

/// Writes a plan in a form.
///
/// # Errors
/// The plan has refused classes, or the target cannot carry it.
pub fn emit(plan: &Plan, form: Form, target: &Target) -> Result<Emission, EmitError> {
    if let Some(refused) = plan.refused.first() {
        let reason = format!("`{}` {}", refused.name, refused.reason);
        return Err(EmitError::new(form, reason, refused.remedy.clone()));
    }
    match form {
        // What is written decides, whatever the plan was made for.
        Form::TcEts => tc::ets(&plan.written_for(form), target),
        Form::TcDrr => tc::drr(&plan.written_for(form), target),
        Form::Dcb => dcb::emit(&plan.written_for(form), target),
        Form::Opensm => opensm::emit(plan, target),
        Form::Pcie => pcie::emit(&plan.written_for(form), target),
        Form::Scenario => scenario::emit(plan),
    }
}

/// The bounds that are longer under the target's scheduler than under the deficit table, in one line, and a line for
/// each latency that is asked for and no longer kept.
fn longer_bounds(plan: &Plan, form: Form) -> Vec<String> {
    let scheduler = form.scheduler();
    let name = scheduler.name();
    let longer = |class: &ClassPlan| {
        let (here, there) = (class.bounds.deficit_table.latency, scheduler.of(&class.bounds).latency);
        (there > here).then(|| format!("`{}` {} instead of {}", class.name, micros(there), micros(here)))
    };
    let broken = |class: &ClassPlan| {
        let (asked, bound) = (class.requested.latency?, scheduler.of(&class.bounds).latency);
        let (name_of, asked_for, reached) = (&class.name, micros(asked), micros(bound));
        (bound > asked)
            .then(|| format!("the latency of `{name_of}`, {asked_for}: {name} bounds it by {reached} only"))
    };
    let all: Vec<String> = plan.classes.iter().filter_map(longer).collect();
    let line =
        (!all.is_empty()).then(|| format!("bounds of the deficit table: under {name} {}", all.join(", ")));
    line.into_iter().chain(plan.classes.iter().filter_map(broken)).collect()
}

/// In which unit shares are, and what that means for bytes.
fn unit_of_shares(plan: &Plan) -> String {
    let credit = plan.table.credit;
    format!(
        "shares of bytes: weights count credits, and a packet counts every credit that it begins; a class \
         whose packets are just above a multiple of {credit} gets fewer bytes"
    )
}

/// The text as comments.
pub(crate) fn commented(lines: &[String]) -> String {
    lines.iter().map(|line| format!("# {line}\n")).collect()
}

/// The head of every form: the title and who is who.
fn header(plan: &Plan) -> Vec<String> {
    let mut lines = vec!["Written by `weir plan`.".to_owned()];
    if !plan.title.is_empty() {
        lines[0] = format!("{} Written by `weir plan`.", one_line(&plan.title));
    }
    for class in &plan.classes {
        lines.push(format!(
            "{}: lane {}, {} of the link, distance {}",
            class.name, class.lane, class.share, class.distance
        ));
    }
    lines
}

/// A title with a full stop, without line breaks that would end a comment.
pub(crate) fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|each| if each.is_control() { ' ' } else { each }).collect();
    let plain = plain.trim();
    if plain.ends_with('.') { plain.to_owned() } else { format!("{plain}.") }
}
