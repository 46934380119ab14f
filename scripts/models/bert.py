"""One training step of a BERT classifier of transformers, made from a configuration with random weights, for `opscope capture`.

    opscope capture -- python scripts/models/bert.py [--batch 16] [--length 128] [--layers 12]
"""

import argparse

import torch
from transformers import BertConfig, BertForSequenceClassification

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--length", type=int, default=128)
parser.add_argument("--layers", type=int, default=12)
options = parser.parse_args()

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1)
model = BertForSequenceClassification(BertConfig(num_hidden_layers=options.layers, num_labels=2)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
tokens = torch.randint(30000, (options.batch, options.length), device=device)
labels = torch.randint(2, (options.batch,), device=device)

optimizer.zero_grad()
loss = model(input_ids=tokens, labels=labels).loss
loss.backward()
optimizer.step()
print(f"BERT, {options.layers} layers, batch {options.batch}, {options.length} tokens, on {device}: loss {loss.item():.3f}")
