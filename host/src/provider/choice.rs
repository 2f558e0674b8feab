//! What is said about the model for one run, on the command line or by an embedding program.

/// What the command line or an embedding program says about the model; all optional.
#[derive(Debug, Clone, Default)]
pub struct ModelChoice {
    /// A known provider, such as `groq`, or a name under `[providers]`.
    pub provider: Option<String>,
    /// The model's name.
    pub model: Option<String>,
    /// Where the provider is.
    pub base_url: Option<String>,
    /// The wire format.
    pub api_mode: Option<String>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Whole replies instead of streamed ones.
    pub no_stream: bool,
}
