//! Requests for arbitration tables and for nodes: a refusal has a place, a plan fits, and what is emitted reads as the
//! plan.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weir_plan::nodes::scenario;
use weir_plan::opensm::{Value, parse};
use weir_plan::{Form, NodeForm, NodeRequest, Request, Requirements, emit, place, plan};

fuzz_target!(|text: &str| match Request::from_toml(text, "fuzz.toml") {
    Err(error) => assert!(error.line > Some(0) && !error.remedy.is_empty()),
    Ok(Request::Table(asked)) => table(&asked),
    Ok(Request::Nodes(asked)) => nodes(&asked),
});

fn table(asked: &Requirements) {
    let plan = plan(asked);
    assert_eq!(plan.classes.len() + plan.refused.len(), asked.classes.len());
    assert!(plan.weight <= plan.table.pool);
    for form in Form::ALL {
        let Ok(emitted) = emit(&plan, form, &asked.target) else { continue };
        if form != Form::Opensm {
            continue;
        }
        let options = parse(&emitted.text, "fuzz.conf").expect("what is written is read");
        let pairs = options.settings.iter().filter_map(|setting| match &setting.value {
            Value::Table(pairs) => Some(pairs.len()),
            _ => None,
        });
        assert_eq!(pairs.max(), Some(plan.slots.len()));
    }
}

fn nodes(asked: &NodeRequest) {
    let plan = place(asked);
    assert!(plan.nodes.iter().all(|node| node.committed <= plan.capacity));
    assert!(plan.fewest.nodes.is_none_or(|nodes| plan.fewest.bound <= nodes));
    for form in NodeForm::ALL {
        let Ok(emitted) = scenario::emit(asked, &plan, form) else { continue };
        assert_eq!(emitted.text.matches("\n[[process]]\n").count(), plan.processes.len());
    }
}
