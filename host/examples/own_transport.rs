//! A model the host does not know: a program's own transport, registered in one call.
//!
//! `cargo run --example own_transport -- "turn this round"`

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use hermes_host::core::message::FinishReason;
use hermes_host::core::transport::{
    Delta, DeltaStream, ErrorKind, ModelRequest, Transport, TransportError,
};
use hermes_host::{Home, HostBuilder};

/// A model that says everything backwards, one word a delta.
struct Backwards;

#[async_trait]
impl Transport for Backwards {
    fn api_mode(&self) -> &str {
        "backwards"
    }

    async fn send(&self, request: &ModelRequest) -> Result<DeltaStream, TransportError> {
        let said = request.messages.last().map(|message| message.content.text());
        let said = said.ok_or_else(|| {
            TransportError::new(ErrorKind::BadRequest, "there is nothing to answer")
        })?;
        let backwards = |word: &str| word.chars().rev().collect::<String>();
        // Backwards altogether, the last word first.
        let words: Vec<String> = said.split_inclusive(' ').rev().map(backwards).collect();
        let deltas = words.into_iter().map(Delta::Text).chain([Delta::Finish(FinishReason::Stop)]);
        Ok(stream::iter(deltas.map(Ok).collect::<Vec<_>>()).boxed())
    }
}

async fn ask(home: Home, prompt: &str) -> anyhow::Result<String> {
    let host =
        HostBuilder::new(home).transport("mine", "backwards-1", Arc::new(Backwards)).open()?;
    Ok(host.agent_for(None)?.chat(prompt).await)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "turn this round".into());
    let answer = ask(Home::from_env()?, &prompt).await?;
    #[expect(clippy::print_stdout, reason = "this is the program's answer")]
    {
        println!("{answer}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn it_answers() {
        let home = tempfile::tempdir().unwrap();
        let answer = ask(Home::at(home.path()), "turn this round").await.unwrap();
        assert_eq!(answer, "dnuor siht nrut");
    }
}
