"""One training step of torchvision's ResNet-50 with random weights, for `opscope capture`.

    opscope capture -- python scripts/models/resnet50.py [--batch 32] [--size 224]
"""

import argparse

import torch
import torchvision

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--size", type=int, default=224)
options = parser.parse_args()

device = "cuda" if torch.cuda.is_available() else "cpu"
torch.manual_seed(1)
model = torchvision.models.resnet50(weights=None).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
images = torch.randn(options.batch, 3, options.size, options.size, device=device)
classes = torch.randint(1000, (options.batch,), device=device)

optimizer.zero_grad()
loss = torch.nn.functional.cross_entropy(model(images), classes)
loss.backward()
optimizer.step()
print(f"ResNet-50, batch {options.batch}, {options.size}x{options.size}, on {device}: loss {loss.item():.3f}")
