"""The layers before one that rejects its input."""

from fitdoctor.catalogue.knowledge.models.refusals import of_trial
from fitdoctor.facts import DataFacts, FailureSummary, LayerFacts, ModelFacts, Outcome, Trial


def test_the_first_layer_of_a_sub_model_follows_the_last_layers_of_the_part_before():
    encoder = LayerFacts(
        "encoder", "Sequential", 0, sublayers=(LayerFacts("lstm", "LSTM", 0), LayerFacts("lstm_1", "LSTM", 1))
    )
    decoder = LayerFacts("decoder", "Sequential", 1, sublayers=(LayerFacts("lstm_2", "LSTM", 0),))
    model = ModelFacts(layers=(encoder, decoder))
    trial = FailureSummary("ValueError", "expected ndim=3, found ndim=2", layer="lstm_2")
    data = DataFacts("training", trial=Trial(Outcome(failure=trial)))
    refusal = of_trial(model, data)
    assert refusal is not None
    assert [layer.name for layer in refusal.way] == ["lstm_1", "lstm"]
