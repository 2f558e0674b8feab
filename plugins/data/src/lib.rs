//! The plugin `data`: tools that compute on what they are given and touch nothing else. One module a
//! tool; `exact` holds the numbers that two of them share.

mod calculate;
mod csv_query;
mod date_time;
mod exact;
mod query_json;

hermes_plugin_sdk::plugin! {
    tools: [
        query_json::query_json,
        csv_query::csv_query,
        date_time::date_time,
        calculate::calculate,
    ]
}
